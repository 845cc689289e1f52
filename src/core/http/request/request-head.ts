import { Credential } from '../../kernel/caller.ts';

/** A request target (RFC 9112, section 3.2). It is not normalized: paths are compared as they are. */
export interface Target {
  readonly path: string;
  /** Without its question mark. */
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

/** The single-valued fields that this edge reads, by their names in lower case. */
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

/** By names in lower case and as most clients write them, `Accept-Encoding`. */
const NAMES: ReadonlyMap<string, Key> = new Map(
  Object.entries<Key>({ ...JOINED, authorization: 'authorization', host: 'host' }).flatMap(([name, key]) => [
    [name, key],
    [name.replace(/\b[a-z]/g, (first) => first.toUpperCase()), key],
  ]),
);

/** What a field line has on the wire beside its name and value: `: ` and CRLF. */
const LINE_OVERHEAD = 4;

/**
 * Reads the field lines of a request in one pass. `rawHeaders` is as Node has it, alternating names and values, decoded as
 * Latin-1: one character a byte. Credentials are replaced there, also those of `otherNames` (in lower case), so that nothing
 * else finds them.
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
    const key = NAMES.get(rawName) ?? NAMES.get(rawName.toLowerCase());
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

/** Takes a credential out of the field lines. */
function take(rawHeaders: string[], index: number): Credential {
  const credential = new Credential(rawHeaders[index] as string);
  rawHeaders[index] = String(credential);
  return credential;
}

/** Whether a request has a body (RFC 9112, section 6.3). `Content-Length: 0` announces none. */
export function announcesBody({ transferEncoding, contentLength }: Fields): boolean {
  return transferEncoding !== undefined || (contentLength !== undefined && Number(contentLength) !== 0);
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
