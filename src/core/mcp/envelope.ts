import {
  CLIENT_INFO_META_KEY,
  isJSONRPCResponse,
  type JSONRPCNotification,
  type JSONRPCRequest,
  SUPPORTED_PROTOCOL_VERSIONS,
} from '@modelcontextprotocol/server';
import { mentionsCredential } from '../credentials/redact.ts';
import type { Caller, ClientRecord } from '../kernel/caller.ts';
import { explained, GatewayError } from '../kernel/errors.ts';
import { showHidden } from '../kernel/hidden-text.ts';
import { decodeUtf8, fits, isNotification, isRequest } from './message.ts';
import {
  CURRENT,
  claimOf,
  EARLIER,
  hasEnvelopes,
  metaOf,
  noEnvelope,
  type Revision,
  readClaim,
  versionUnsupported,
} from './revisions.ts';

/** Headers of the protocol, and `User-Agent`; `undefined` if absent. */
export interface RpcHeaders {
  readonly protocolVersion: string | undefined;
  readonly method: string | undefined;
  readonly name: string | undefined;
  readonly userAgent?: string | undefined;
}

/** The classified content of a body. */
export interface Envelope {
  readonly revision: Revision;
  /** `undefined` for notifications and responses, which are ignored: no request here outlives its own exchange. */
  readonly request: JSONRPCRequest | undefined;
}

/** The revision of a client without a revision header (2025-06-18, basic/transports). */
const ASSUMED = '2025-03-26';

/** Values that `Mcp-Name` repeats, by method. */
const NAMED: Readonly<Record<string, string>> = {
  'resources/read': 'uri',
  'tools/call': 'name',
  'prompts/get': 'name',
};

/** Marks of a header value in base64 (2026-07-28, basic/transports). */
const ENCODED = { begin: '=?base64?', end: '?=' };
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

/** Throws if a body is not JSON-RPC, its revision is unsupported, or headers are missing or differ from the body. */
export function readEnvelope(message: unknown, headers: RpcHeaders): Envelope {
  if (Array.isArray(message)) throw noBatches();
  if (isRequest(message)) return readRequest(message, headers);
  if (isNotification(message)) return readNotification(message, headers);
  if (!fits(isJSONRPCResponse, message)) throw new GatewayError('invalid_rpc');
  return earlier(undefined, headers);
}

/** Revision 2025-03-26 alone had them. */
export function noBatches(): GatewayError {
  return explained('invalid_rpc', 'Batches are not supported: send one message at a time.');
}

function readRequest(request: JSONRPCRequest, headers: RpcHeaders): Envelope {
  const { method } = request;
  const claim = readClaim(request);
  if (claim === undefined) {
    if (!hasEnvelopes(headers.protocolVersion)) return earlier(request, headers);
    throw method === 'initialize'
      ? mismatch('MCP-Protocol-Version names a revision without initialize.')
      : noEnvelope();
  }
  checkVersion(claim, headers);
  checkMethod(method, headers);
  if (claim !== CURRENT) throw versionUnsupported();
  if (headers.protocolVersion === undefined) throw mismatch('The header MCP-Protocol-Version is missing.');
  if (headers.method === undefined) throw mismatch('The header Mcp-Method is missing.');
  checkName(request, headers.name);
  return { revision: CURRENT, request };
}

function readNotification(notification: JSONRPCNotification, headers: RpcHeaders): Envelope {
  const own = claimOf(notification);
  // A message without an envelope has the header's revision.
  const claim = own === undefined && hasEnvelopes(headers.protocolVersion) ? headers.protocolVersion : own;
  if (claim === undefined) return earlier(undefined, headers);
  if (typeof claim !== 'string') throw noEnvelope();
  checkVersion(claim, headers);
  if (hasEnvelopes(claim)) checkMethod(notification.method, headers);
  if (claim !== CURRENT) throw versionUnsupported();
  return { revision: CURRENT, request: undefined };
}

/** Messages of an earlier revision: the header's, or for `initialize` the one to be agreed. */
function earlier(request: JSONRPCRequest | undefined, { protocolVersion = ASSUMED }: RpcHeaders): Envelope {
  if (request?.method !== 'initialize' && !SUPPORTED_PROTOCOL_VERSIONS.includes(protocolVersion)) {
    throw versionUnsupported();
  }
  return { revision: EARLIER, request };
}

function checkVersion(claim: unknown, { protocolVersion }: RpcHeaders): void {
  if (protocolVersion === undefined || protocolVersion === claim) return;
  throw mismatch('MCP-Protocol-Version and the message name different revisions.');
}

function checkMethod(method: string, headers: RpcHeaders): void {
  if (headers.method === undefined || headers.method === method) return;
  throw mismatch('Mcp-Method and the message name different methods.');
}

function checkName({ method, params }: JSONRPCRequest, header: string | undefined): void {
  const key = Object.hasOwn(NAMED, method) ? NAMED[method] : undefined;
  if (key === undefined) return;
  const value = params?.[key];
  if (header === undefined) {
    if (typeof value === 'string') throw mismatch('The header Mcp-Name is missing.');
    return;
  }
  const name = decoded(header);
  if (name === undefined) throw mismatch('Mcp-Name is not base64 of UTF-8.');
  if (typeof value === 'string' && name !== value) throw mismatch(`Mcp-Name differs from params.${key}.`);
}

/** Returns the value of a header that may be base64; `undefined` if it is invalid base64. */
function decoded(value: string): string | undefined {
  if (!(value.startsWith(ENCODED.begin) && value.endsWith(ENCODED.end))) return value;
  const encoded = value.slice(ENCODED.begin.length, -ENCODED.end.length);
  try {
    return BASE64.test(encoded) ? decodeUtf8(Buffer.from(encoded, 'base64')) : undefined;
  } catch {
    return undefined;
  }
}

function mismatch(detail: string): GatewayError {
  return explained('header_mismatch', detail);
}

const MAX_LENGTH = 64;

const REVISIONS: readonly unknown[] = [CURRENT, ...SUPPORTED_PROTOCOL_VERSIONS];

type Headers = Pick<RpcHeaders, 'protocolVersion' | 'userAgent'>;

/** Clients of the last requests: what is made of a record is kept with it. */
const KNOWN: { readonly stated: ClientRecord; readonly record: ClientRecord }[] = [];
const MAX_KNOWN = 64;

/**
 * What a message and its headers state about the client, without texts that contain a credential of the caller. Before
 * 2026-07-28 only `initialize` has a name; other messages have `User-Agent`.
 */
export function clientOf(message: unknown, headers: Headers, caller: Bearer): ClientRecord | undefined {
  const { method, params } = Object(message);
  const isInitialize = method === 'initialize';
  const info = metaOf(message)[CLIENT_INFO_META_KEY] ?? (isInitialize ? Object(params).clientInfo : undefined);
  const given = claimOf(message) ?? (isInitialize ? Object(params).protocolVersion : headers.protocolVersion);
  const stated = Object(info);
  // Most clients repeat no credential in any of them.
  const all = `${textOf(stated.name)}\n${textOf(stated.version)}\n${textOf(headers.userAgent)}`;
  const suspect = all.length > 2 && mentions(all, caller) ? caller : undefined;
  const name = safeText(stated.name, suspect);
  const version = safeText(stated.version, suspect);
  const userAgent = stated.name === undefined ? safeText(headers.userAgent, suspect) : undefined;
  const revision = given === undefined || REVISIONS.includes(given) ? given : 'other';
  if ((name ?? version ?? userAgent ?? revision) === undefined) return undefined;
  return recordOf({ name, version, userAgent, revision });
}

/** Compares, because V8 interns each text that a map is asked for: 1 % of a cached `tools/call`. */
function recordOf(stated: ClientRecord): ClientRecord {
  const { name, version, userAgent, revision } = stated;
  for (const { stated: known, record } of KNOWN) {
    const isSame = known.userAgent === userAgent && known.name === name && known.version === version;
    if (isSame && known.revision === revision) return record;
  }
  const record = { name: shown(name), version: shown(version), userAgent: shown(userAgent), revision };
  if (KNOWN.length === MAX_KNOWN) KNOWN.length = 0;
  KNOWN.push({ stated, record });
  return record;
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
  if (text.length <= MAX_LENGTH) return text;
  // A copy: a slice would keep all of a text that may have a megabyte, as long as the record is known.
  return Buffer.from(text.slice(0, MAX_LENGTH), 'utf16le').toString('utf16le');
}

function shown(text: string | undefined): string | undefined {
  return text === undefined ? undefined : showHidden(text).text;
}
