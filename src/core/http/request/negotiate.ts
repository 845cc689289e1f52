import type { IncomingHttpHeaders } from 'node:http';
import Negotiator from 'negotiator';
import { explained, GatewayError } from '../../kernel/errors.ts';

const MEDIA_TYPES = ['application/json;charset=utf-8'];
/** Common values, which are not parsed. The last one is what MCP requires. */
const PLAIN: readonly string[] = ['*/*', 'application/json', 'application/json, text/event-stream'];

/** Characters of a field that is parsed: the time of parsing grows faster than its length. */
const MAX_LENGTH = 1024;

/** Throws `headers_too_large` for a value that is too long to be parsed. */
function negotiatorOf(name: 'accept' | 'accept-encoding', value: string): Negotiator {
  if (value.length > MAX_LENGTH) {
    throw explained('headers_too_large', `The header ${name} can have at most ${MAX_LENGTH} characters.`);
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

/** Content codings that a request accepts, the best one first. */
type Codings = readonly string[];

const IDENTITY = 'identity';
const IDENTITY_ONLY: Codings = [IDENTITY];

/** Clients send few different values. */
const parsed = new Map<string, Codings>();
const MAX_PARSED = 64;

/** Returns the codings that a request accepts (RFC 9110, section 12.5.3). Throws `not_acceptable` where there are none. */
export function acceptedCodings({ 'accept-encoding': accepted }: IncomingHttpHeaders): Codings {
  if (accepted === undefined) return IDENTITY_ONLY;
  const value = String(accepted);
  const codings = parsed.get(value) ?? negotiatorOf('accept-encoding', value).encodings(['gzip', IDENTITY]);
  if (parsed.size >= MAX_PARSED) parsed.clear();
  parsed.set(value, codings);
  if (codings.length === 0)
    throw new GatewayError('not_acceptable', { reason: 'Accept-Encoding excludes every coding' });
  return codings;
}

/** Whether a body may be sent uncompressed. */
export function acceptsIdentity(codings: Codings): boolean {
  return codings.includes(IDENTITY);
}

/** Whether a body of this size is sent compressed. Below `compressMinBytes` it is not, unless the request requires that. */
export function choosesGzip(codings: Codings, bytes: number, compressMinBytes: number): boolean {
  return codings[0] === 'gzip' && (bytes >= compressMinBytes || !acceptsIdentity(codings));
}

/**
 * Whether an `If-None-Match` names this entity tag, by weak comparison (RFC 9110, sections 8.8.3.2 and 13.1.2). `etag` has no comma.
 * `Cache-Control` beside it is ignored: Node's `fetch` adds `no-cache`.
 */
export function namesTag(ifNoneMatch: string, etag: string): boolean {
  const opaque = etag.replace(/^W\//, '');
  return ifNoneMatch.split(',').some((tag) => ['*', opaque, `W/${opaque}`].includes(tag.trim()));
}
