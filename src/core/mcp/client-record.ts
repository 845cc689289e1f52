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
export function clientOf(
  message: unknown,
  headers: Headers,
  caller: Pick<Caller, 'credential' | 'others'> | undefined,
) {
  const { method, params } = Object(message);
  const isInitialize = method === 'initialize';
  const info = metaOf(message)[CLIENT_INFO_META_KEY] ?? (isInitialize ? Object(params).clientInfo : undefined);
  const { name, version } = Object(info);
  const given = claimOf(message) ?? (isInitialize ? Object(params).protocolVersion : headers.protocolVersion);
  const safe = (text: unknown) => safeText(text, caller);
  const client: ClientRecord = {
    name: safe(name),
    version: safe(version),
    userAgent: name === undefined ? safe(headers.userAgent) : undefined,
    revision: given === undefined || REVISIONS.has(given) ? given : 'other',
  };
  return Object.values(client).some((value) => value !== undefined) ? client : undefined;
}

function safeText(text: unknown, caller: Parameters<typeof clientOf>[2]): string | undefined {
  if (typeof text !== 'string') return undefined;
  const { credential, others } = caller ?? {};
  const credentials = [...(credential === undefined ? [] : [credential]), ...[...(others?.values() ?? [])].flat()];
  return mentionsCredential(text, credentials) ? undefined : showHidden(text.slice(0, MAX_LENGTH)).text;
}
