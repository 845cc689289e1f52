import type { IncomingHttpHeaders } from 'node:http';
import { mentionsCredential } from '../../credentials/mention.ts';
import { continueTrace, type Trace } from '../../observability/trace.ts';
import { discardBody, hasBody } from '../body.ts';
import type { Connections } from '../connections.ts';
import type { Middleware } from '../context.ts';
import type { Exchange } from '../exchange.ts';
import { fieldValues } from '../field-lines.ts';
import { chooseRequestId } from '../request-id.ts';
import { SECURITY_HEADERS } from '../security-headers.ts';

/** Outermost: opens the exchange, and has the connection closed after it where it must not be used again. */
export function trackExchange(connections: Connections): Middleware {
  return async function track(ctx, next) {
    const { req, res } = ctx;
    const authorization = fieldValues(req.rawHeaders, 'authorization');
    const exchange: Exchange = {
      req,
      res,
      begun: performance.now(),
      requestId: chooseRequestId(single(req.headers['x-request-id']), authorization),
      trace: traceOf(req.headers, authorization),
      route: 'unmatched',
      outcome: 'internal',
      bytes: 0,
      gone: false,
    };
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

/** A trace id is logged, so that one which repeats the credential is not taken. */
function traceOf(headers: IncomingHttpHeaders, authorization: readonly string[]): Trace | undefined {
  const traceparent = single(headers['traceparent']);
  if (traceparent === undefined || mentionsCredential(traceparent, authorization)) return undefined;
  return continueTrace(traceparent, single(headers['tracestate']));
}

/** Node joins what is repeated, but for `Set-Cookie`; its types do not know that. */
function single(value: string | string[] | undefined): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
