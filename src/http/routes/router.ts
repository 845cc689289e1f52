import { Router } from '@koa/router';
import type { Context, Middleware, Routed, State } from '../context.ts';

/** Answers by path, for `GET` and `HEAD`. Paths are strict and case-sensitive. */
export type Routes = Readonly<Record<string, (ctx: Context) => Promise<void> | void>>;

export function route(routes: Routes): Middleware {
  const router = new Router<State, Routed>({ strict: true, sensitive: true });
  for (const [path, answer] of Object.entries(routes)) {
    router.get(path, (ctx) => {
      ctx.state.exchange.route = path;
      return answer(ctx);
    });
  }
  // Its types ask for what it puts on the context itself.
  return router.routes() as Middleware;
}
