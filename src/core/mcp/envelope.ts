import {
  classifyInboundRequest,
  type InboundClassificationOutcome,
  type InboundHttpRequest,
  type InboundLadderRejection,
  type JSONRPCNotification,
  type JSONRPCRequest,
  ProtocolErrorCode,
  SUPPORTED_PROTOCOL_VERSIONS,
} from '@modelcontextprotocol/server';
import { explained, GatewayError } from '../kernel/errors.ts';
import { decodeUtf8, shapeFlaw } from './message.ts';
import { CURRENT, EARLIER, noEnvelope, type Revision, versionUnsupported } from './revisions.ts';

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
 * `headers`: `undefined` over stdio.
 */
export function readEnvelope(message: unknown, headers?: RpcHeaders): Envelope {
  // 2025-03-26 alone had them.
  if (Array.isArray(message)) throw explained('invalid_rpc', 'Batches are not supported: send one message at a time.');
  if (isUnreadable(message)) return { revision: EARLIER };
  const { protocolVersion, method } = headers ?? {};
  const route = classify({
    httpMethod: 'POST',
    body: message,
    ...(protocolVersion !== undefined && { protocolVersionHeader: protocolVersion }),
    ...(method !== undefined && { mcpMethodHeader: method }),
  });
  if (route.kind === 'reject') throw refusalOf(route, message);
  if (route.kind === 'modern') {
    if (route.classification.revision !== CURRENT) throw versionUnsupported();
    if (route.messageKind === 'notification') return { revision: CURRENT, notification: route.message };
    if (headers !== undefined) checkHeaders(route.message, headers);
    return { revision: CURRENT, request: route.message };
  }
  // `initialize` agrees on a revision, whatever its header names.
  if (route.reason !== 'initialize' && !SUPPORTED_PROTOCOL_VERSIONS.includes(protocolVersion ?? ASSUMED))
    throw versionUnsupported();
  if (route.reason === 'notification') return { revision: EARLIER, notification: message as JSONRPCNotification };
  return { revision: EARLIER, request: route.reason === 'response' ? undefined : (message as JSONRPCRequest) };
}

function classify(request: InboundHttpRequest): InboundClassificationOutcome {
  try {
    return classifyInboundRequest(request);
  } catch (error) {
    // The SDK's schemas call themselves: an envelope can nest deeper than the stack.
    throw error instanceof RangeError ? noEnvelope() : error;
  }
}

/** Whether a message says that an earlier one had no readable id (JSON-RPC 2.0, section 5). An answer to it could go on for ever. */
function isUnreadable(message: unknown): boolean {
  const { id, method, error } = Object(message);
  return id === null && method === undefined && typeof Object(error).code === 'number';
}

function refusalOf({ code, cell, data }: InboundLadderRejection, message: unknown): GatewayError {
  if (code === ProtocolErrorCode.InvalidParams) return noEnvelope(faultyMember(data));
  if (code === ProtocolErrorCode.InvalidRequest) {
    const flaw = shapeFlaw(message);
    return flaw === undefined ? new GatewayError('invalid_rpc') : explained('invalid_rpc', flaw);
  }
  if (cell.includes('initialize')) return mismatch('MCP-Protocol-Version names a revision without initialize.');
  return cell.includes('method')
    ? mismatch('Mcp-Method and the message name different methods.')
    : mismatch('MCP-Protocol-Version and the message name different revisions.');
}

/** Returns the key in `_meta` that the SDK blames. */
function faultyMember(data: unknown): string | undefined {
  const { key, missing } = Object(Object(data).envelope);
  return key ?? (Array.isArray(missing) ? missing.join(', ') : undefined);
}

function checkHeaders({ method, params }: JSONRPCRequest, headers: RpcHeaders): void {
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
