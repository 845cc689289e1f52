import { GatewayError } from '../../kernel/errors.ts';
import type { Check } from '../context.ts';
import { fieldBytes } from '../field-lines.ts';
import { parseTarget } from '../target.ts';

/** Sizes up to which a request is read. */
export interface FramingLimits {
  readonly maxUrlBytes: number;
  readonly maxHeaderBytes: number;
}

/** What of a request's framing the parser lets through. Leaves an origin-form target for the router. */
export function checkFraming({ maxUrlBytes, maxHeaderBytes }: FramingLimits): Check {
  return function framing(ctx) {
    const { rawHeaders, httpVersion } = ctx.req;
    if (httpVersion !== '1.1' && httpVersion !== '1.0') {
      throw new GatewayError('invalid_request', { detail: 'This server speaks HTTP/1.1.' });
    }
    if (ctx.url.length > maxUrlBytes) throw new GatewayError('uri_too_long');
    if (fieldBytes(rawHeaders) > maxHeaderBytes) throw new GatewayError('headers_too_large');
    const { url, authority } = parseTarget(ctx.url);
    ctx.url = url;
    ctx.state.authority = authority;
  };
}
