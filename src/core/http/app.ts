import type { RequestListener } from 'node:http';
import { Exchange } from './exchange.ts';
import { createKoaService } from './koa-service.ts';
import { type Operation, UNKNOWN_PATH } from './operations/operation.ts';
import type { Handle } from './request-hooks.ts';

/**
 * The service of one listener: opens an exchange for each request, finds what it asks for, and hands both to `handle`.
 *
 * What Koa and its router take for that is above 15 % of a read from cache (docs/decisions/0011), so a table of the
 * targets that clients send most stands ahead of them. It finds the operation sooner, and decides nothing. They are loaded for
 * the first request that is not in it (0041).
 *
 * `otherCredentials`: headers beside `Authorization` that hold credentials, in lower case.
 */
export function createApp(
  operations: readonly Operation[],
  handle: Handle,
  otherCredentials?: ReadonlySet<string>,
): RequestListener {
  const selected = targetsOf(operations);
  let koa: RequestListener | undefined;

  function throughKoa(...[req, res]: Parameters<RequestListener>): void {
    try {
      koa ??= createKoaService(operations, handle, otherCredentials);
    } catch (error) {
      // Its files could not be read: there is no descriptor left, say. The next request tries again.
      void handle(new Exchange(req, res, otherCredentials), { ...UNKNOWN_PATH, respond: () => Promise.reject(error) });
      return;
    }
    koa(req, res);
  }

  return (req, res) => {
    const operation = selected.get(req.url ?? '')?.find(({ methods }) => methods.includes(req.method ?? ''));
    if (operation === undefined) throughKoa(req, res);
    else handle(new Exchange(req, res, otherCredentials), operation);
  };
}

/** Operations by the targets that clients spell to ask for them. */
function targetsOf(operations: readonly Operation[]): ReadonlyMap<string, readonly Operation[]> {
  const targets = operations.flatMap((operation) =>
    [operation.path, ...(operation.targets ?? [])].map((target) => ({ target, operation })),
  );
  return new Map(
    Map.groupBy(targets, ({ target }) => target)
      .entries()
      .map(([target, found]) => [target, found.map(({ operation }) => operation)]),
  );
}
