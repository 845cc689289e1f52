import type { Answer } from './answer.ts';
import type { Context } from './context.ts';

/** Gives an answer to Koa, which leaves the body out for `HEAD`. */
export function send(ctx: Context, { status, headers, body }: Answer): void {
  ctx.status = status;
  ctx.set(headers);
  ctx.body = body;
  // Koa names a type for any bytes, none included.
  if (body.length === 0) ctx.remove('Content-Type');
  ctx.state.exchange.bytes = ctx.method === 'HEAD' ? 0 : body.length;
}
