import Negotiator from 'negotiator';
import { explained, GatewayError } from '../../kernel/errors.ts';
import type { Coding } from '../../reads/representations/representations.ts';
import type { Fields } from './request-head.ts';

const MEDIA_TYPES = ['application/json;charset=utf-8'];
/** Common values, which are not parsed. The last one is what MCP requires. */
const PLAIN: ReadonlySet<string> = new Set(['*/*', 'application/json', 'application/json, text/event-stream']);

const IDENTITY = 'identity';
const IDENTITY_ONLY: Codings = [IDENTITY];
const BEST_FIRST = ['zstd', 'gzip', IDENTITY];

const MEMO = new Map<string, Codings>();
const MEMO_MAX_ENTRIES = 64;
const MEMO_MAX_LENGTH = 128;

/** Characters of a field that is parsed: the time of parsing grows faster than its length. */
const MAX_LENGTH = 1024;

/** The codings that a response may have, the best one first. */
export type Codings = readonly (Coding | typeof IDENTITY)[];

/** An option of negotiator 1.0 that its types lack: the order of codings with equal weights. */
interface PreferringNegotiator {
  encodings(available: readonly string[], options: { readonly preferred: readonly string[] }): Codings;
}

/** Throws `headers_too_large` for a value that is too long to be parsed. */
function negotiatorOf(name: 'accept' | 'accept-encoding', value: string): Negotiator {
  if (value.length > MAX_LENGTH) {
    throw explained('headers_too_large', `The header ${name} may have ${MAX_LENGTH} characters.`);
  }
  return new Negotiator({ headers: { [name]: value } });
}

/** Throws `not_acceptable` where a request does not accept JSON (RFC 9110, section 12.5.1). */
export function requireJsonAccepted({ accept }: Fields): void {
  if (accept === undefined || PLAIN.has(accept)) return;
  if (negotiatorOf('accept', accept).mediaType(MEDIA_TYPES) === undefined) {
    throw new GatewayError('not_acceptable', { reason: 'Accept excludes application/json' });
  }
}

/** Whether a request prefers HTML to JSON, as browsers do. One that accepts anything prefers neither. */
export function prefersHtml({ accept }: Fields): boolean {
  if (accept === undefined) return false;
  return negotiatorOf('accept', accept).mediaType(['application/json', 'text/html']) === 'text/html';
}

/** Returns the codings that a request accepts (RFC 9110, section 12.5.3). Throws `not_acceptable` where there are none. */
export function acceptedCodings({ acceptEncoding }: Fields): Codings {
  if (acceptEncoding === undefined) return IDENTITY_ONLY;
  const codings = MEMO.get(acceptEncoding) ?? negotiate(acceptEncoding);
  if (codings.length === 0)
    throw new GatewayError('not_acceptable', { reason: 'Accept-Encoding excludes every coding' });
  return codings;
}

/** Clients send few different values: the results are cached. */
function negotiate(acceptEncoding: string): Codings {
  const negotiator = negotiatorOf('accept-encoding', acceptEncoding);
  const codings = (negotiator as Negotiator & PreferringNegotiator).encodings(BEST_FIRST, { preferred: BEST_FIRST });
  if (MEMO.size === MEMO_MAX_ENTRIES) MEMO.clear();
  if (acceptEncoding.length <= MEMO_MAX_LENGTH) MEMO.set(acceptEncoding, codings);
  return codings;
}

/** Whether a body may be sent uncompressed. */
export function acceptsIdentity(codings: Codings): boolean {
  return codings.includes(IDENTITY);
}

/** Returns the coding of a body of this size. Below `compressMinBytes` there is none, unless the request forbids that. */
export function chooseCoding(codings: Codings, bytes: number, compressMinBytes: number): Coding | undefined {
  if (bytes < compressMinBytes && acceptsIdentity(codings)) return undefined;
  const [best] = codings;
  return best === IDENTITY ? undefined : best;
}

/** One member of a list of entity tags (RFC 9110, section 8.8.3). A tag may hold a comma. */
const MEMBER = /[\t ]*(?:(?:W\/)?("[\x21\x23-\x7e\x80-\xff]*")[\t ]*)?(?:,|$)/y;

/**
 * Whether an `If-None-Match` names this entity tag, by weak comparison (RFC 9110, sections 8.8.3.2 and 13.1.2). A value that
 * is no list of tags names none. `Cache-Control` beside it is ignored: Node's `fetch` adds `no-cache`.
 */
export function namesTag(ifNoneMatch: string, etag: string): boolean {
  if (ifNoneMatch === etag || ifNoneMatch.trim() === '*') return true;
  const opaque = etag.replace(/^W\//, '');
  let named = false;
  MEMBER.lastIndex = 0;
  while (MEMBER.lastIndex < ifNoneMatch.length) {
    const member = MEMBER.exec(ifNoneMatch);
    if (member === null) return false;
    named ||= member[1] === opaque;
  }
  return named;
}
