import { discardBody, hasBody } from '../body.ts';
import type { Connections } from '../connections.ts';
import type { Middleware } from '../context.ts';
import { openExchange } from '../exchange.ts';
import { fieldValues } from '../field-lines.ts';
import { SECURITY_HEADERS } from '../security-headers.ts';

/** Outermost: opens the exchange, and has the connection closed after it where it must not be used again. */
export function trackExchange(connections: Connections): Middleware {
  return async function track(ctx, next) {
    const { req, res } = ctx;
    const exchange = openExchange(req, res, fieldValues(req.rawHeaders, 'authorization'), {
      requestId: single(req.headers['x-request-id']),
      traceparent: single(req.headers['traceparent']),
      tracestate: single(req.headers['tracestate']),
    });
    ctx.state.exchange = exchange;
    ctx.respond = connections.begin(exchange);
    if (!ctx.respond) return;
    ctx.set(SECURITY_HEADERS);
    ctx.set('X-Request-Id', exchange.requestId);
    await next();
    if (hasBody(req) && !req.readableEnded) await discardBody(req);
    if (connections.isLast(exchange)) ctx.set('Connection', 'close');
  };
}

/** Node joins what is repeated, but for `Set-Cookie`; its types do not know that. */
function single(value: string | string[] | undefined): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
