import { CLIENT_INFO_META_KEY, SUPPORTED_PROTOCOL_VERSIONS } from '@modelcontextprotocol/server';
import { mentionsCredential } from '../credentials/redact.ts';
import type { Caller } from '../kernel/caller.ts';
import { showHidden } from '../kernel/hidden-text.ts';
import type { ClientRecord } from '../kernel/request-record.ts';
import type { RpcHeaders } from './envelope.ts';
import { CURRENT, claimOf, metaOf } from './revisions.ts';

/** Maximum length of each text. */
const MAX_LENGTH = 64;

const REVISIONS: ReadonlySet<unknown> = new Set([CURRENT, ...SUPPORTED_PROTOCOL_VERSIONS]);

type Headers = Pick<RpcHeaders, 'protocolVersion' | 'userAgent'>;

/**
 * Returns what a message and its headers state about the client; `undefined` for nothing. Texts that contain a credential of the caller are left out.
 * Before 2026-07-28 only `initialize` has a name; other messages have `User-Agent`.
 */
export function clientOf(message: unknown, headers: Headers, caller: Bearer): ClientRecord | undefined {
  const { method, params } = Object(message);
  const isInitialize = method === 'initialize';
  const info = metaOf(message)[CLIENT_INFO_META_KEY] ?? (isInitialize ? Object(params).clientInfo : undefined);
  const { name, version } = Object(info);
  const given = claimOf(message) ?? (isInitialize ? Object(params).protocolVersion : headers.protocolVersion);
  const userAgent = name === undefined ? headers.userAgent : undefined;
  // Most clients repeat no credential in any of them.
  const suspect = mentions([name, version, userAgent].join('\n'), caller) ? caller : undefined;
  const client: ClientRecord = {
    name: safeText(name, suspect),
    version: safeText(version, suspect),
    userAgent: safeText(userAgent, suspect),
    revision: given === undefined || REVISIONS.has(given) ? given : 'other',
  };
  const isKnown = client.name ?? client.version ?? client.userAgent ?? client.revision;
  return isKnown === undefined ? undefined : client;
}

type Bearer = Pick<Caller, 'credential' | 'others'> | undefined;

function mentions(text: string, caller: Bearer): boolean {
  if (caller === undefined) return false;
  const { credential, others } = caller;
  return mentionsCredential(text, others === undefined ? [credential] : [credential, ...[...others.values()].flat()]);
}

function safeText(text: unknown, caller: Bearer): string | undefined {
  if (typeof text !== 'string' || mentions(text, caller)) return undefined;
  return showHidden(text.slice(0, MAX_LENGTH)).text;
}
