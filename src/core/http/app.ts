import type { RequestListener } from 'node:http';
import { createRequire } from 'node:module';
import { Exchange } from './exchange.ts';
import type { Handle } from './handler.ts';
import { type Operation, otherMethod, UNKNOWN_PATH, unknownPath } from './operations/operation.ts';

interface State {
  exchange: Exchange;
}

/**
 * The service of one listener: opens an exchange for each request, finds its operation, and hands both to `handle`. Koa and its
 * router serve every route. A lookup of the exact targets that most clients send is in front of the same handler: it saves a
 * quarter of the processor time of a cached read, and decides nothing (docs/decisions/0011).
 *
 * `otherCredentials`: headers beside `Authorization` that hold credentials, in lower case.
 */
export function createApp(
  operations: readonly Operation[],
  handle: Handle,
  otherCredentials?: ReadonlySet<string>,
): RequestListener {
  const targets = operations.flatMap((operation) =>
    [operation.path, ...(operation.targets ?? [])].map((target) => ({ target, operation })),
  );
  const byTarget = Map.groupBy(targets, ({ target }) => target);
  let koa: RequestListener | undefined;

  return (req, res) => {
    const found = byTarget.get(req.url ?? '')?.find(({ operation }) => operation.methods.includes(req.method ?? ''));
    if (found !== undefined) {
      handle(new Exchange(req, res, otherCredentials), found.operation);
      return;
    }
    try {
      // With the first request that needs it: loading takes 45 ms of a start.
      koa ??= createKoa(operations, handle, otherCredentials);
    } catch (error) {
      // Its files could not be read, for lack of descriptors for one. The next request tries again.
      handle(new Exchange(req, res, otherCredentials), { ...UNKNOWN_PATH, respond: () => Promise.reject(error) });
      return;
    }
    koa(req, res);
  };
}

/** `require()` returns at once, and takes less of the router than an `import` would (kernel/node-http.ts). */
function createKoa(
  operations: readonly Operation[],
  handle: Handle,
  otherCredentials: ReadonlySet<string> | undefined,
): RequestListener {
  const require = createRequire(import.meta.url);
  const Koa: typeof import('koa') = require('koa');
  const { Router }: typeof import('@koa/router') = require('@koa/router');
  const app = new Koa<State>();
  const router = new Router<State>({ strict: true, sensitive: true });
  const listed = operations.filter((operation) => !(operation.open === true && operation.isPage));
  const byPath = Map.groupBy(listed, ({ path }) => path);
  const unknown = unknownPath(operations);
  for (const operation of operations) {
    router.register(operation.path, [...operation.methods], ({ state }) => handle(state.exchange, operation));
  }
  // `handle` never throws. Koa would print the stack of a connection that was closed.
  app.on('error', () => {});
  app.use((ctx, next) => {
    // Responses are sent by `handle`.
    ctx.respond = false;
    ctx.state.exchange = new Exchange(ctx.req, ctx.res, otherCredentials);
    const { target } = ctx.state.exchange;
    if (target === undefined) return handle(ctx.state.exchange, unknown);
    ctx.url = target.path;
    return next();
  });
  app.use(router.routes());
  app.use(({ path, state }) => {
    const others = byPath.get(path);
    return handle(state.exchange, others === undefined ? unknown : otherMethod(others, otherCredentials));
  });
  return app.callback();
}
