import type { RequestListener } from 'node:http';
import { createRequire } from 'node:module';
import { Exchange } from './exchange.ts';
import { type Operation, otherMethod, unknownPath } from './operations/operation.ts';
import type { Handle } from './request-hooks.ts';

interface State {
  exchange: Exchange;
}

/**
 * The Koa service: finds what any request asks for, by its path and method.
 *
 * Koa and its router are loaded here, which takes 45 ms of a start otherwise: an `import()` could not be waited for by who has
 * a request in hand, and what it gets of the router imports `http`, with all that comes with that (kernel/node-http.ts).
 */
export function createKoaService(
  operations: readonly Operation[],
  handle: Handle,
  otherCredentials?: ReadonlySet<string>,
): RequestListener {
  const require = createRequire(import.meta.url);
  const Koa: typeof import('koa') = require('koa');
  const { Router }: typeof import('@koa/router') = require('@koa/router');
  const app = new Koa<State>();
  const router = new Router<State>({ strict: true, sensitive: true });
  const told = operations.filter((operation) => !(operation.open === true && operation.isPage));
  const byPath = Map.groupBy(told, ({ path }) => path);
  const nowhere = unknownPath(operations);
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
    if (target === undefined) return handle(ctx.state.exchange, nowhere);
    ctx.url = target.path;
    return next();
  });
  app.use(router.routes());
  app.use(({ path, state }) => {
    const asked = byPath.get(path);
    return handle(state.exchange, asked === undefined ? nowhere : otherMethod(asked, otherCredentials));
  });
  return app.callback();
}
