import { CLIENT_INFO_META_KEY, SUPPORTED_PROTOCOL_VERSIONS } from '@modelcontextprotocol/server';
import { mentionsCredential } from '../credentials/redact.ts';
import type { Caller, ClientRecord } from '../kernel/caller.ts';
import { showHidden } from '../kernel/hidden-text.ts';
import type { RpcHeaders } from './envelope.ts';
import { CURRENT, claimOf, metaOf } from './revisions.ts';

/** Maximum length of each text. */
const MAX_LENGTH = 64;

const REVISIONS: ReadonlySet<unknown> = new Set([CURRENT, ...SUPPORTED_PROTOCOL_VERSIONS]);

type Headers = Pick<RpcHeaders, 'protocolVersion' | 'userAgent'>;

/** Records of the clients of the last requests, which are few: what is made of a record is kept with it. */
const RECORDS = new Map<string, ClientRecord>();
const MAX_RECORDS = 256;

/**
 * Returns what a message and its headers state about the client; `undefined` for nothing. Texts that contain a credential of the caller are left out.
 * Before 2026-07-28 only `initialize` has a name; other messages have `User-Agent`.
 */
export function clientOf(message: unknown, headers: Headers, caller: Bearer): ClientRecord | undefined {
  const { method, params } = Object(message);
  const isInitialize = method === 'initialize';
  const info = metaOf(message)[CLIENT_INFO_META_KEY] ?? (isInitialize ? Object(params).clientInfo : undefined);
  const given = claimOf(message) ?? (isInitialize ? Object(params).protocolVersion : headers.protocolVersion);
  const stated = Object(info);
  // Most clients repeat no credential in any of them.
  const all = `${textOf(stated.name)}\n${textOf(stated.version)}\n${textOf(headers.userAgent)}`;
  const suspect = mentions(all, caller) ? caller : undefined;
  const name = safeText(stated.name, suspect);
  const version = safeText(stated.version, suspect);
  const userAgent = stated.name === undefined ? safeText(headers.userAgent, suspect) : undefined;
  const revision = given === undefined || REVISIONS.has(given) ? given : 'other';
  if ((name ?? version ?? userAgent ?? revision) === undefined) return undefined;
  // The length of each text, so that no two clients have the same key.
  const key = `${name?.length} ${version?.length} ${userAgent?.length} ${name}${version}${userAgent}${revision}`;
  const known = RECORDS.get(key);
  if (known !== undefined) return known;
  if (RECORDS.size === MAX_RECORDS) RECORDS.clear();
  const client = { name: shown(name), version: shown(version), userAgent: shown(userAgent), revision };
  RECORDS.set(key, client);
  return client;
}

type Bearer = Pick<Caller, 'credential' | 'others'> | undefined;

function mentions(text: string, caller: Bearer): boolean {
  if (caller === undefined) return false;
  const { credential, others } = caller;
  return mentionsCredential(text, others === undefined ? [credential] : [credential, ...[...others.values()].flat()]);
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function safeText(text: unknown, caller: Bearer): string | undefined {
  if (typeof text !== 'string' || mentions(text, caller)) return undefined;
  return text.slice(0, MAX_LENGTH);
}

function shown(text: string | undefined): string | undefined {
  return text === undefined ? undefined : showHidden(text).text;
}
