import { Router } from '@koa/router';
import type { Context, Middleware, Routed, State } from '../context.ts';

/** Answers by path. Paths are strict and case-sensitive. */
export type Routes = Readonly<Record<string, (ctx: Context) => Promise<void> | void>>;

/** `reads` answer `GET` and `HEAD`, `posts` answer `POST`. */
export function route(reads: Routes, posts: Routes = {}): Middleware {
  const router = new Router<State, Routed>({ strict: true, sensitive: true });
  const mount = (method: 'get' | 'post', routes: Routes) => {
    for (const [path, answer] of Object.entries(routes)) {
      router[method](path, (ctx) => {
        ctx.state.exchange.route = path;
        return answer(ctx);
      });
    }
  };
  mount('get', reads);
  mount('post', posts);
  // Its types ask for what it puts on the context itself.
  return router.routes() as Middleware;
}
