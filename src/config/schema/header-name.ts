import { z } from 'zod';

/** Belong to one connection or to the framing of one message (RFC 9110, section 7.6.1; RFC 9112, section 6). */
const CONNECTION = [
  'connection',
  'content-length',
  'expect',
  'host',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
];

/** Say what Portico can read, or which request this is: a fixed value would be wrong, or be overwritten. */
const OWN = [
  'accept-encoding',
  'if-match',
  'if-modified-since',
  'if-none-match',
  'if-range',
  'if-unmodified-since',
  'range',
  'traceparent',
  'tracestate',
  'x-request-id',
];

const RESERVED = new Set([...CONNECTION, ...OWN]);

/** An HTTP field name (RFC 9110, section 5.1). */
export const headerName = z.string().regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/, 'must be an HTTP header name');

/** Name of a header that settings may send to an upstream. */
export const requestHeaderName = headerName.refine(
  (name) => !isReserved(name.toLowerCase()),
  'is a header that HTTP or Portico itself decides on',
);

function isReserved(name: string): boolean {
  return RESERVED.has(name) || name.startsWith('proxy-');
}
