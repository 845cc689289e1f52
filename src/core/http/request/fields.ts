import { Credential } from '../../kernel/caller.ts';

/** The header fields that this edge goes by, as they came. One that came more than once is joined (RFC 9110, section 5.3). */
export interface Fields {
  /** Every field line: a second one is refused, since a proxy in front may have gone by another than Node. */
  readonly authorization: readonly Credential[];
  /** Those of other headers that settings name, by name in lower case; `undefined` where none came. */
  readonly others: ReadonlyMap<string, readonly Credential[]> | undefined;
  /** Likewise. */
  readonly host: readonly string[];
  readonly accept: string | undefined;
  readonly acceptEncoding: string | undefined;
  readonly cacheControl: string | undefined;
  readonly contentEncoding: string | undefined;
  readonly contentLength: string | undefined;
  readonly contentType: string | undefined;
  readonly expect: string | undefined;
  readonly forwarded: string | undefined;
  /** `X-Forwarded-For`. */
  readonly forwardedFor: string | undefined;
  readonly ifNoneMatch: string | undefined;
  readonly mcpMethod: string | undefined;
  readonly mcpName: string | undefined;
  readonly mcpProtocolVersion: string | undefined;
  readonly origin: string | undefined;
  readonly requestId: string | undefined;
  readonly traceparent: string | undefined;
  readonly tracestate: string | undefined;
  readonly transferEncoding: string | undefined;
  /** Bytes that all header fields took on the wire. */
  readonly bytes: number;
}

type Joined = Exclude<keyof Fields, 'authorization' | 'others' | 'host' | 'bytes'>;
type Writable = { -readonly [Key in Joined]: string | undefined } & {
  authorization: Credential[];
  others: Map<string, Credential[]> | undefined;
  host: string[];
  bytes: number;
};

const JOINED: Readonly<Record<string, Joined>> = {
  Accept: 'accept',
  'Accept-Encoding': 'acceptEncoding',
  'Cache-Control': 'cacheControl',
  'Content-Encoding': 'contentEncoding',
  'Content-Length': 'contentLength',
  'Content-Type': 'contentType',
  Expect: 'expect',
  Forwarded: 'forwarded',
  'If-None-Match': 'ifNoneMatch',
  'Mcp-Method': 'mcpMethod',
  'Mcp-Name': 'mcpName',
  'Mcp-Protocol-Version': 'mcpProtocolVersion',
  Origin: 'origin',
  'X-Forwarded-For': 'forwardedFor',
  'X-Request-Id': 'requestId',
  Traceparent: 'traceparent',
  Tracestate: 'tracestate',
  'Transfer-Encoding': 'transferEncoding',
};

/** Both spellings that clients send; any other is brought into lower case first. */
const NAMES = new Map<string, Joined | 'authorization' | 'host'>(
  Object.entries({ ...JOINED, Authorization: 'authorization', Host: 'host' } as const).flatMap(([name, key]) => [
    [name, key],
    [name.toLowerCase(), key],
  ]),
);

/** What a field line takes on the wire beside its name and value: `: ` and CRLF. */
const LINE_OVERHEAD = 4;

/**
 * Reads the field lines of a request in one pass. `rawHeaders` as Node has them, names and values by turns and decoded as
 * Latin-1: one character a byte. Takes the credentials out of them, those of `otherNames` (in lower case) too: what is read
 * from there later shows none.
 */
export function readFields(rawHeaders: string[], otherNames?: ReadonlySet<string>): Fields {
  const fields: Writable = {
    authorization: [],
    others: undefined,
    host: [],
    accept: undefined,
    acceptEncoding: undefined,
    cacheControl: undefined,
    contentEncoding: undefined,
    contentLength: undefined,
    contentType: undefined,
    expect: undefined,
    forwarded: undefined,
    forwardedFor: undefined,
    ifNoneMatch: undefined,
    mcpMethod: undefined,
    mcpName: undefined,
    mcpProtocolVersion: undefined,
    origin: undefined,
    requestId: undefined,
    traceparent: undefined,
    tracestate: undefined,
    transferEncoding: undefined,
    bytes: 0,
  };
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] as string;
    const value = rawHeaders[index + 1] as string;
    fields.bytes += name.length + value.length + LINE_OVERHEAD;
    const key = NAMES.get(name) ?? NAMES.get(name.toLowerCase());
    if (key === undefined) {
      const other = name.toLowerCase();
      if (otherNames?.has(other) !== true) continue;
      const credential = new Credential(value);
      fields.others ??= new Map();
      const lines = fields.others.get(other);
      if (lines === undefined) fields.others.set(other, [credential]);
      else lines.push(credential);
      rawHeaders[index + 1] = String(credential);
    } else if (key === 'authorization') {
      const credential = new Credential(value);
      fields.authorization.push(credential);
      rawHeaders[index + 1] = String(credential);
    } else if (key === 'host') fields.host.push(value);
    else fields[key] = fields[key] === undefined ? value : `${fields[key]}, ${value}`;
  }
  return fields;
}

/** Whether a request has a body (RFC 9112, section 6.3). `Content-Length: 0` announces none. */
export function announcesBody({ transferEncoding, contentLength }: Fields): boolean {
  return transferEncoding !== undefined || (contentLength !== undefined && Number(contentLength) !== 0);
}

/** All credentials that came with a request, in whichever header. */
export function credentialsIn({ authorization, others }: Fields): readonly Credential[] {
  return others === undefined ? authorization : [...authorization, ...[...others.values()].flat()];
}
