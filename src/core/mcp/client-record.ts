import type { IncomingHttpHeaders } from 'node:http';
import { credentialsOf, mentionsCredential } from '../credentials/redact.ts';
import type { Caller, ClientRecord } from '../kernel/caller.ts';
import { showHidden } from '../kernel/hidden-text.ts';
import { CURRENT, claimOf, EARLIER_REVISIONS, META, metaOf } from './revisions.ts';

const MAX_LENGTH = 64;

const REVISIONS: readonly unknown[] = [CURRENT, ...EARLIER_REVISIONS];

type Bearer = Pick<Caller, 'credential' | 'headerCredentials'> | undefined;

/**
 * Returns what a message and its headers state about the client, without texts that contain a credential of the caller. Before
 * 2026-07-28 only `initialize` has a name; other messages have `User-Agent`.
 */
export function clientOf(
  message: unknown,
  headers: IncomingHttpHeaders | undefined,
  caller: Bearer,
): ClientRecord | undefined {
  const { method, params } = Object(message);
  const isInitialize = method === 'initialize';
  const info = Object(metaOf(message)[META.client] ?? (isInitialize ? Object(params).clientInfo : undefined));
  const given = claimOf(message) ?? (isInitialize ? Object(params).protocolVersion : headers?.['mcp-protocol-version']);
  const name = safeText(info.name, caller);
  const version = safeText(info.version, caller);
  const userAgent = info.name === undefined ? safeText(headers?.['user-agent'], caller) : undefined;
  const revision = given === undefined || REVISIONS.includes(given) ? given : 'other';
  if ((name ?? version ?? userAgent ?? revision) === undefined) return undefined;
  return { name, version, userAgent, revision };
}

function safeText(text: unknown, caller: Bearer): string | undefined {
  if (typeof text !== 'string' || (caller && mentionsCredential(text, credentialsOf(caller)))) return undefined;
  // A copy: a slice would keep all of a text that may have a megabyte, as long as the record is known.
  const short =
    text.length <= MAX_LENGTH ? text : Buffer.from(text.slice(0, MAX_LENGTH), 'utf16le').toString('utf16le');
  return showHidden(short).text;
}
