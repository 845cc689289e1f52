import Negotiator from 'negotiator';
import { Credential } from '../../kernel/caller.ts';
import { explained, GatewayError } from '../../kernel/errors.ts';
import type { Coding } from '../../reads/representations/representations.ts';

/** A request target (RFC 9112, section 3.2). It is not normalized: paths are compared as they are. */
export interface Target {
  readonly path: string;
  readonly query: string;
  /** Host and port of an absolute-form target. They replace the Host header. */
  readonly authority: string | undefined;
}

const ABSOLUTE = /^https?:\/\/(?<authority>[^/?]+)(?<rest>.*)$/i;

/** Returns `undefined` for a form that only proxies answer, and for a target with a fragment. */
export function parseTarget(raw: string): Target | undefined {
  if (raw.includes('#')) return undefined;
  if (raw.startsWith('/') || raw === '*') return split(raw, undefined);
  const { authority, rest } = ABSOLUTE.exec(raw)?.groups ?? {};
  if (authority === undefined || rest === undefined) return undefined;
  return split(rest.startsWith('/') ? rest : `/${rest}`, authority);
}

function split(url: string, authority: string | undefined): Target {
  const mark = url.indexOf('?');
  if (mark === -1) return { path: url, query: '', authority };
  return { path: url.slice(0, mark), query: url.slice(mark + 1), authority };
}

const JOINED = {
  accept: 'accept',
  'accept-encoding': 'acceptEncoding',
  'cache-control': 'cacheControl',
  'content-encoding': 'contentEncoding',
  'content-length': 'contentLength',
  'content-type': 'contentType',
  expect: 'expect',
  forwarded: 'forwarded',
  'if-none-match': 'ifNoneMatch',
  'mcp-method': 'mcpMethod',
  'mcp-name': 'mcpName',
  'mcp-protocol-version': 'mcpProtocolVersion',
  origin: 'origin',
  traceparent: 'traceparent',
  tracestate: 'tracestate',
  'transfer-encoding': 'transferEncoding',
  'user-agent': 'userAgent',
  'x-forwarded-for': 'forwardedFor',
  'x-request-id': 'requestId',
} as const;

type Joined = { -readonly [Name in keyof typeof JOINED as (typeof JOINED)[Name]]: string | undefined };

/** The header fields of a request. A field that was sent more than once is joined (RFC 9110, section 5.3). */
export interface Fields extends Readonly<Joined> {
  /** One for each field line: a second line is refused, since a proxy in front may have checked the other one. */
  readonly authorization: readonly Credential[];
  /** The same for other headers that settings name, by name in lower case; `undefined` where none was sent. */
  readonly others: ReadonlyMap<string, readonly Credential[]> | undefined;
  /** One for each field line. */
  readonly host: readonly string[];
  /** Bytes of all header fields on the wire. */
  readonly bytes: number;
}

/** All with the same shape for V8. */
const ABSENT = Object.fromEntries(Object.values(JOINED).map((key) => [key, undefined])) as Joined;

type Key = keyof Joined | 'authorization' | 'host';

/**
 * Names in lower case and as most clients write them, by length. A map by name costs 700 instructions for each header, 3 % of a
 * cached `tools/call`: V8 interns each text that a map is asked for, and the names of each request are new texts.
 */
const NAMES = Map.groupBy(
  Object.entries<Key>({ ...JOINED, authorization: 'authorization', host: 'host' }).map(([lower, key]) => {
    const usual = lower.replace(/\b[a-z]/g, (first) => first.toUpperCase()).replace('Mcp-Protocol', 'MCP-Protocol');
    return { lower, usual, key };
  }),
  ({ lower }) => lower.length,
);

function keyOf(name: string): Key | undefined {
  const names = NAMES.get(name.length);
  if (names === undefined) return undefined;
  for (const { lower, usual, key } of names) if (name === usual || name === lower) return key;
  const folded = name.toLowerCase();
  for (const { lower, key } of names) if (folded === lower) return key;
  return undefined;
}

/** `: ` and CRLF. */
const LINE_OVERHEAD = 4;

/**
 * `rawHeaders` is as Node has it, decoded as Latin-1: one character a byte. Credentials are replaced there, also those of
 * `otherNames` (in lower case), so that nothing else finds them.
 */
export function readFields(rawHeaders: string[], otherNames?: ReadonlySet<string>): Fields {
  const authorization: Credential[] = [];
  const host: string[] = [];
  const others = undefined as Map<string, Credential[]> | undefined;
  const fields = { ...ABSENT, authorization, others, host, bytes: 0 };
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    const rawName = rawHeaders[index] as string;
    const value = rawHeaders[index + 1] as string;
    fields.bytes += rawName.length + value.length + LINE_OVERHEAD;
    const key = keyOf(rawName);
    if (key === 'host') host.push(value);
    else if (key === 'authorization') authorization.push(take(rawHeaders, index + 1));
    else if (key !== undefined) fields[key] = fields[key] === undefined ? value : `${fields[key]}, ${value}`;
    else if (otherNames !== undefined) {
      const name = rawName.toLowerCase();
      if (!otherNames.has(name)) continue;
      fields.others ??= new Map();
      fields.others.set(name, [...(fields.others.get(name) ?? []), take(rawHeaders, index + 1)]);
    }
  }
  return fields;
}

/** What Node's tables of headers have in place of a credential. */
export const REDACTED = '[credential]';

function take(rawHeaders: string[], index: number): Credential {
  const credential = new Credential(rawHeaders[index] as string);
  rawHeaders[index] = REDACTED;
  return credential;
}

/** Returns the bytes of a body whose length is announced; 0 for no body, and for one of unknown length (RFC 9112, section 6.3). */
export function announcedBytes({ contentLength }: Fields): number {
  return contentLength === undefined ? 0 : Number(contentLength);
}

/** Whether a body follows (RFC 9112, section 6). */
export function hasBody(fields: Fields): boolean {
  return fields.transferEncoding !== undefined || announcedBytes(fields) !== 0;
}

const NO_CACHE = /(?:^|,)[\t ]*no-cache[\t ]*(?:,|$)/i;

/** Whether `Cache-Control` of a request asks for a response of the upstream (RFC 9111, section 5.2.1.4). */
export function forbidsCache(cacheControl: string | undefined): boolean {
  return cacheControl !== undefined && NO_CACHE.test(cacheControl);
}

/** All credentials of a request, in whichever header. */
export function credentialsIn({ authorization, others }: Fields): readonly Credential[] {
  return others === undefined ? authorization : [...authorization, ...[...others.values()].flat()];
}

const MEDIA_TYPES = ['application/json;charset=utf-8'];
/** Common values, which are not parsed. The last one is what MCP requires. */
const PLAIN: readonly string[] = ['*/*', 'application/json', 'application/json, text/event-stream'];

const IDENTITY = 'identity';
const IDENTITY_ONLY: Codings = [IDENTITY];
const BEST_FIRST = ['zstd', 'gzip', IDENTITY];

/** Values that were parsed, of which clients send few. */
const PARSED: { readonly value: string; readonly codings: Codings }[] = [];
const MAX_PARSED = 64;

/** Characters of a field that is parsed: the time of parsing grows faster than its length. */
const MAX_LENGTH = 1024;

/** The best one first. */
export type Codings = readonly (Coding | typeof IDENTITY)[];

/** An option of negotiator 1.0 that its types lack: the order of codings with equal weights. */
interface PreferringNegotiator {
  encodings(available: readonly string[], options: { readonly preferred: readonly string[] }): Codings;
}

/** Throws `headers_too_large` for a value that is too long to be parsed. */
function negotiatorOf(name: 'accept' | 'accept-encoding', value: string): Negotiator {
  if (value.length > MAX_LENGTH) {
    throw explained('headers_too_large', `The header ${name} can have at most ${MAX_LENGTH} characters.`);
  }
  return new Negotiator({ headers: { [name]: value } });
}

/** Throws `not_acceptable` where a request does not accept JSON (RFC 9110, section 12.5.1). */
export function requireJsonAccepted({ accept }: Fields): void {
  if (accept === undefined || PLAIN.includes(accept)) return;
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
  const codings = PARSED.find(({ value }) => value === acceptEncoding)?.codings ?? negotiate(acceptEncoding);
  if (codings.length === 0)
    throw new GatewayError('not_acceptable', { reason: 'Accept-Encoding excludes every coding' });
  return codings;
}

function negotiate(acceptEncoding: string): Codings {
  const negotiator = negotiatorOf('accept-encoding', acceptEncoding);
  const codings = (negotiator as Negotiator & PreferringNegotiator).encodings(BEST_FIRST, { preferred: BEST_FIRST });
  if (PARSED.length === MAX_PARSED) PARSED.length = 0;
  PARSED.push({ value: acceptEncoding, codings });
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

/** RFC 9110, section 8.8.3. A tag may hold a comma. */
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
