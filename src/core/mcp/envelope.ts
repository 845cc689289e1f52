import {
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  type JSONRPCNotification,
  type JSONRPCRequest,
  PROTOCOL_VERSION_META_KEY,
  SUPPORTED_PROTOCOL_VERSIONS,
} from '@modelcontextprotocol/server';
import { explained, type GatewayError } from '../kernel/errors.ts';
import { isObject, type Json } from '../kernel/json-shape.ts';
import { decodeUtf8, shapeFlaw } from './message.ts';
import { CURRENT, EARLIER, metaOf, type Revision, versionUnsupported } from './revisions.ts';

/** Headers of the protocol, and `User-Agent`; `undefined` if absent. */
export interface RpcHeaders {
  readonly protocolVersion: string | undefined;
  readonly method: string | undefined;
  readonly name: string | undefined;
  readonly userAgent?: string | undefined;
}

/** A message and the revision that it belongs to. */
export interface Envelope {
  readonly revision: Revision;
  /** `undefined` for notifications and responses. */
  readonly request?: JSONRPCRequest | undefined;
  readonly notification?: JSONRPCNotification | undefined;
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

/**
 * Throws if a message is not JSON-RPC, or its revision is unsupported; over HTTP also if headers are missing or differ from it.
 * `headers`: `undefined` over stdio. The SDK's `classifyInboundRequest`, with which a test compares it, takes a tenth of a call.
 */
export function readEnvelope(message: unknown, headers?: RpcHeaders): Envelope {
  // 2025-03-26 alone had them.
  if (Array.isArray(message)) throw explained('invalid_rpc', 'Batches are not supported: send one message at a time.');
  // An answer to a response could go on for ever.
  if (isResponse(message)) return { revision: EARLIER };
  const flaw = shapeFlaw(message);
  if (flaw !== undefined) throw explained('invalid_rpc', flaw);
  const request = message as JSONRPCRequest;
  const revision = revisionOf(request, headers);
  return request.id === undefined ? { revision, notification: request } : { revision, request };
}

function isResponse(message: unknown): boolean {
  return (
    isObject(message) && message['method'] === undefined && (isObject(message['result']) || isObject(message['error']))
  );
}

/** The envelope decides, else the header. */
function revisionOf({ id, method, params }: JSONRPCRequest, headers?: RpcHeaders): Revision {
  const isRequest = id !== undefined;
  const meta = metaOf({ params });
  const claim = meta[PROTOCOL_VERSION_META_KEY];
  const named = headers?.protocolVersion;
  const flaw = claim === undefined ? undefined : flawOf(meta, isRequest);
  // `initialize` agrees on an earlier revision, whatever its header names.
  if (isRequest && method === 'initialize' && !(isCurrent(claim) && flaw === undefined)) {
    if (isCurrent(named)) throw mismatch('MCP-Protocol-Version names a revision without initialize.');
    return EARLIER;
  }
  if (claim === undefined && !isCurrent(named)) {
    if (SUPPORTED_PROTOCOL_VERSIONS.includes(named ?? ASSUMED)) return EARLIER;
    throw versionUnsupported();
  }
  if (flaw !== undefined) throw noEnvelope(flaw);
  if (claim === undefined && isRequest) throw noEnvelope(flawOf(meta, isRequest) ?? '');
  if (claim !== undefined && named !== undefined && claim !== named)
    throw mismatch('MCP-Protocol-Version and the message name different revisions.');
  if (headers?.method !== undefined && headers.method !== method)
    throw mismatch('Mcp-Method and the message name different methods.');
  if ((claim ?? named) !== CURRENT) throw versionUnsupported();
  if (isRequest && headers !== undefined) checkHeaders(method, params, headers);
  return CURRENT;
}

/** Whether it names a revision with envelopes, in any version of the protocol. */
function isCurrent(revision: unknown): boolean {
  return typeof revision === 'string' && revision >= CURRENT;
}

/** Returns the first member of `_meta` that is missing or wrong. Capabilities are not looked into: none is used. */
function flawOf(meta: Json, isRequest: boolean): string | undefined {
  if (typeof meta[PROTOCOL_VERSION_META_KEY] !== 'string') return PROTOCOL_VERSION_META_KEY;
  if (!isRequest) return undefined;
  if (!isObject(meta[CLIENT_CAPABILITIES_META_KEY])) return CLIENT_CAPABILITIES_META_KEY;
  const info = meta[CLIENT_INFO_META_KEY];
  const isClient = isObject(info) && typeof info['name'] === 'string' && typeof info['version'] === 'string';
  return info === undefined || isClient ? undefined : CLIENT_INFO_META_KEY;
}

function noEnvelope(member: string): GatewayError {
  const which = `Missing or wrong: ${member}.`;
  const detail = `Revision ${CURRENT} requires protocolVersion and clientCapabilities in params._meta. ${which}`;
  return explained('invalid_params', detail);
}

function checkHeaders(method: string, params: JSONRPCRequest['params'], headers: RpcHeaders): void {
  if (headers.protocolVersion === undefined) throw mismatch('The header MCP-Protocol-Version is missing.');
  if (headers.method === undefined) throw mismatch('The header Mcp-Method is missing.');
  const key = Object.hasOwn(NAMED, method) ? NAMED[method] : undefined;
  if (key === undefined) return;
  const value = params?.[key];
  if (headers.name === undefined) {
    if (typeof value === 'string') throw mismatch('The header Mcp-Name is missing.');
    return;
  }
  const name = decoded(headers.name);
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
