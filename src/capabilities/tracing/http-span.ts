import type { Exchange } from '../../core/http/exchange.ts';
import { errorTypeOf } from '../../core/kernel/causes.ts';

/** Ends the span of an exchange that has ended, where it has one. */
export function endSpan(exchange: Exchange): void {
  const { span, req, method, route, status, outcome, error } = exchange;
  span?.end({
    ...{ method, route, status, outcome },
    scheme: 'encrypted' in req.socket ? 'https' : 'http',
    httpVersion: req.httpVersion,
    error: errorTypeOf(exchange),
    code: error?.code,
    resource: exchange.resource,
    cache: exchange.cache,
  });
}
