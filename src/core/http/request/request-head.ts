import type { IncomingMessage } from 'node:http';
import { Credential } from '../../kernel/caller.ts';

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

/** The credentials of a request, and what its header lines show that Node's table of headers does not. */
export interface Credentials {
  /** One for each field line: a second line is refused, since a proxy in front may have checked the other one. */
  readonly authorization: readonly Credential[];
  /** Credentials in other headers that settings name, one for each line, by name in lower case; `undefined` where none was sent. */
  readonly headerCredentials: ReadonlyMap<string, readonly Credential[]> | undefined;
  readonly all: readonly Credential[];
  /** Numbers of `Host` and `Content-Type` lines. */
  readonly hosts: number;
  readonly contentTypes: number;
  /** Bytes of all header fields on the wire. */
  readonly headerBytes: number;
}

/** Replaces a credential in the headers of a request. */
const REDACTED = '[credential]';

/** `: ` and CRLF. */
const LINE_OVERHEAD = 4;

/** Takes the credentials out of the headers, so that nothing else finds them. `otherNames`: in lower case. */
export function takeCredentials(
  { rawHeaders, headers }: IncomingMessage,
  otherNames: ReadonlySet<string>,
): Credentials {
  const authorization: Credential[] = [];
  const all: Credential[] = [];
  let headerCredentials: Map<string, Credential[]> | undefined;
  let hosts = 0;
  let contentTypes = 0;
  let headerBytes = 0;
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    const rawName = rawHeaders[index] as string;
    const value = rawHeaders[index + 1] as string;
    headerBytes += rawName.length + value.length + LINE_OVERHEAD;
    const name = rawName.toLowerCase();
    if (name === 'host') hosts += 1;
    if (name === 'content-type') contentTypes += 1;
    if (name !== 'authorization' && !otherNames.has(name)) continue;
    const credential = new Credential(value);
    rawHeaders[index + 1] = REDACTED;
    headers[name] = REDACTED;
    all.push(credential);
    if (name === 'authorization') authorization.push(credential);
    else {
      headerCredentials ??= new Map();
      headerCredentials.set(name, [...(headerCredentials.get(name) ?? []), credential]);
    }
  }
  return { authorization, headerCredentials, all, hosts, contentTypes, headerBytes };
}

/** Returns the bytes of a body whose length is announced; 0 for no body, and for one of unknown length (RFC 9112, section 6.3). */
export function announcedBytes({ headers }: IncomingMessage): number {
  return Number(headers['content-length'] ?? 0);
}

/** Whether a body follows (RFC 9112, section 6). */
export function hasBody(req: IncomingMessage): boolean {
  return req.headers['transfer-encoding'] !== undefined || announcedBytes(req) !== 0;
}

const NO_DIRECTIVES = { noCache: false, noStore: false };
const DIRECTIVE = /(?:^|,)[\t ]*(no-cache|no-store)[\t ]*(?=,|$)/gi;

/** Whether `Cache-Control` of a request asks for a response of the upstream, or forbids to store it (RFC 9111, section 5.2.1). */
export function cacheDirectives(cacheControl: string | undefined) {
  if (cacheControl === undefined) return NO_DIRECTIVES;
  const names = new Set(cacheControl.matchAll(DIRECTIVE).map(([, name = '']) => name.toLowerCase()));
  return { noCache: names.has('no-cache'), noStore: names.has('no-store') };
}
