import type { IncomingHttpHeaders } from 'node:http';
import Negotiator from 'negotiator';
import { errorWithDetail, GatewayError } from '../../kernel/errors.ts';

const MEDIA_TYPES = ['application/json;charset=utf-8'];
/** Common values, which are not parsed. The last one is what MCP requires. */
const PLAIN: readonly string[] = ['*/*', 'application/json', 'application/json, text/event-stream'];

/** Characters of a field that is parsed: the time of parsing grows faster than its length. */
const MAX_LENGTH = 1024;

/** Throws `headers_too_large` for a value that is too long to be parsed. */
function negotiatorOf(name: 'accept' | 'accept-encoding', value: string): Negotiator {
  if (value.length > MAX_LENGTH) {
    throw errorWithDetail('headers_too_large', `The header ${name} can have at most ${MAX_LENGTH} characters.`);
  }
  return new Negotiator({ headers: { [name]: value } });
}

/** Throws `not_acceptable` where a request does not accept JSON (RFC 9110, section 12.5.1). */
export function requireJsonAccepted({ accept }: IncomingHttpHeaders): void {
  if (accept === undefined || PLAIN.includes(accept)) return;
  if (negotiatorOf('accept', accept).mediaType(MEDIA_TYPES) === undefined) {
    throw new GatewayError('not_acceptable', { reason: 'Accept excludes application/json' });
  }
}

/** Whether a request prefers HTML to JSON, as browsers do. One that accepts anything prefers neither. */
export function prefersHtml({ accept }: IncomingHttpHeaders): boolean {
  if (accept === undefined) return false;
  return negotiatorOf('accept', accept).mediaType(['application/json', 'text/html']) === 'text/html';
}

/** Clients send few different values. */
const prefersGzipBy = new Map<string, boolean>();
const MAX_PARSED = 64;

/** Whether a request prefers gzip to no coding (RFC 9110, section 12.5.3). No other coding is offered, whatever it forbids. */
export function prefersGzip({ 'accept-encoding': accepted }: IncomingHttpHeaders): boolean {
  if (accepted === undefined) return false;
  const value = String(accepted);
  const known = prefersGzipBy.get(value);
  if (known !== undefined) return known;
  const [best] = negotiatorOf('accept-encoding', value).encodings(['gzip', 'identity']);
  if (prefersGzipBy.size >= MAX_PARSED) prefersGzipBy.clear();
  prefersGzipBy.set(value, best === 'gzip');
  return best === 'gzip';
}

/**
 * Whether an `If-None-Match` names this entity tag, by weak comparison (RFC 9110, sections 8.8.3.2 and 13.1.2). `etag` has no comma.
 * `Cache-Control` beside it is ignored: Node's `fetch` adds `no-cache`.
 */
export function namesTag(ifNoneMatch: string, etag: string): boolean {
  const opaque = etag.replace(/^W\//, '');
  return ifNoneMatch.split(',').some((tag) => ['*', opaque, `W/${opaque}`].includes(tag.trim()));
}
