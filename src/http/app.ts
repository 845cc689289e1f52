import type { RequestListener } from 'node:http';
import { createRequire } from 'node:module';
import Koa from 'koa';
import { Exchange } from './exchange.ts';
import type { Handle } from './handler.ts';
import { type Operation, otherMethod, UNKNOWN_PATH } from './operations/operation.ts';

// What an `import` of it gets imports `http`, with all that comes with that (kernel/node-http.ts).
const { Router }: typeof import('@koa/router') = createRequire(import.meta.url)('@koa/router');

interface State {
  exchange: Exchange;
}

/**
 * The service of one listener: opens an exchange for each request, finds what it asks for, and hands both to `handle`.
 *
 * What Koa and its router take for that is above 15 % of a read from cache (docs/decisions/0011), so a table of the
 * targets that clients send most stands ahead of them. It finds the operation sooner, and decides nothing.
 *
 * `otherCredentials`: headers beside `Authorization` that hold credentials, in lower case.
 */
export function createApp(
  operations: readonly Operation[],
  handle: Handle,
  otherCredentials?: ReadonlySet<string>,
): RequestListener {
  const app = new Koa<State>();
  const router = new Router<State>({ strict: true, sensitive: true });
  const told = operations.filter((operation) => !(operation.open === true && operation.isPage));
  const byPath = Map.groupBy(told, ({ path }) => path);
  for (const operation of operations) {
    router.register(operation.path, [...operation.methods], ({ state }) => handle(state.exchange, operation));
  }
  // A connection that broke off, and nothing else: `handle` never throws. Koa would print its stack.
  app.on('error', () => {});
  app.use((ctx, next) => {
    // Responses are sent by `handle`.
    ctx.respond = false;
    ctx.state.exchange = new Exchange(ctx.req, ctx.res, otherCredentials);
    const { target } = ctx.state.exchange;
    if (target === undefined) return handle(ctx.state.exchange, UNKNOWN_PATH);
    ctx.url = target.path;
    return next();
  });
  app.use(router.routes());
  app.use(({ path, state }) => {
    const asked = byPath.get(path);
    return handle(state.exchange, asked === undefined ? UNKNOWN_PATH : otherMethod(asked, otherCredentials));
  });

  const throughKoa = app.callback();
  const selected = targetsOf(operations);
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
