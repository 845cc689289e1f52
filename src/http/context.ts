import type Koa from 'koa';
import type { Exchange } from './exchange.ts';

/** What this edge's middleware keeps in `ctx.state`. */
export interface State {
  exchange: Exchange;
  /** Host that an absolute-form target names. */
  authority?: string | undefined;
}

/** What the router leaves on `ctx`. */
export interface Routed {
  /** Routes that fit the path, whatever their methods. */
  matched?: readonly { readonly path: string | RegExp; readonly methods: readonly string[] }[];
}

export type Context = Koa.ParameterizedContext<State, Routed>;
export type Middleware = Koa.Middleware<State, Routed>;

/** Refuses a request by throwing. */
export type Check = (ctx: Context) => void;
