import type { IncomingHttpHeaders } from 'node:http';
import { errorWithDetail, type GatewayError } from '../kernel/errors.ts';
import { isObject, type Json } from '../kernel/json-shape.ts';
import { decodeUtf8, type JSONRPCNotification, type JSONRPCRequest, shapeFlaw } from './message.ts';
import { CURRENT, EARLIER, EARLIER_REVISIONS, META, metaOf, type Revision, versionUnsupported } from './revisions.ts';

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
export function readEnvelope(message: unknown, headers?: IncomingHttpHeaders): Envelope {
  // 2025-03-26 alone had them.
  if (Array.isArray(message))
    throw errorWithDetail('invalid_rpc', 'Batches are not supported: send one message at a time.');
  // An answer to a response could go on for ever.
  if (isResponse(message)) return { revision: EARLIER };
  const flaw = shapeFlaw(message);
  if (flaw !== undefined) throw errorWithDetail('invalid_rpc', flaw);
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
function revisionOf({ id, method, params }: JSONRPCRequest, headers?: IncomingHttpHeaders): Revision {
  const isRequest = id !== undefined;
  const meta = metaOf({ params });
  const claim = meta[META.revision];
  const named = headers?.['mcp-protocol-version'];
  const namedMethod = headers?.['mcp-method'];
  const flaw = flawOf(meta, isRequest);
  // `initialize` agrees on an earlier revision, whatever its header names.
  if (isRequest && method === 'initialize' && !(isCurrent(claim) && flaw === undefined)) {
    if (isCurrent(named)) throw mismatch('MCP-Protocol-Version names a revision without initialize.');
    return EARLIER;
  }
  if (claim === undefined && !isCurrent(named)) {
    if (EARLIER_REVISIONS.includes(named ?? ASSUMED)) return EARLIER;
    throw versionUnsupported();
  }
  if (flaw !== undefined) throw noEnvelope(flaw);
  if (claim !== undefined && named !== undefined && claim !== named)
    throw mismatch('MCP-Protocol-Version and the message name different revisions.');
  // Of a notification, before its method is compared, as the SDK does.
  if (!isRequest && claim !== undefined && !isCurrent(claim)) throw versionUnsupported();
  if (namedMethod !== undefined && namedMethod !== method)
    throw mismatch('Mcp-Method and the message name different methods.');
  if ((claim ?? named) !== CURRENT) throw versionUnsupported();
  if (isRequest && headers !== undefined) checkHeaders(method, params, headers);
  return CURRENT;
}

/** Whether it names a revision with envelopes, in any version of the protocol. */
function isCurrent(revision: unknown): boolean {
  return typeof revision === 'string' && revision >= CURRENT;
}

/** A notification needs no envelope: only its claim is checked, if it has one. */
function flawOf(meta: Json, isRequest: boolean): string | undefined {
  if (isRequest) return flawOfClient(meta, META);
  return ['undefined', 'string'].includes(typeof meta[META.revision]) ? undefined : META.revision;
}

type ClientMembers = Readonly<Record<'revision' | 'capabilities' | 'client', string>>;

/**
 * Names what is missing or wrong of what a client says about itself: in an envelope, or in the parameters of `initialize`.
 * Capabilities are not looked into: none is used.
 */
export function flawOfClient(said: Json, names: ClientMembers): string | undefined {
  if (typeof said[names.revision] !== 'string') return names.revision;
  if (!isObject(said[names.capabilities])) return names.capabilities;
  const client = said[names.client];
  // Optional in an envelope.
  if (client === undefined && names === META) return undefined;
  const isClient = isObject(client) && typeof client['name'] === 'string' && typeof client['version'] === 'string';
  return isClient ? undefined : names.client;
}

function noEnvelope(member: string): GatewayError {
  const which = `Missing or wrong: ${member}.`;
  const detail = `Revision ${CURRENT} requires protocolVersion and clientCapabilities in params._meta. ${which}`;
  return errorWithDetail('invalid_params', detail);
}

function checkHeaders(method: string, params: JSONRPCRequest['params'], headers: IncomingHttpHeaders): void {
  if (headers['mcp-protocol-version'] === undefined) throw mismatch('The header MCP-Protocol-Version is missing.');
  if (headers['mcp-method'] === undefined) throw mismatch('The header Mcp-Method is missing.');
  const key = Object.hasOwn(NAMED, method) ? NAMED[method] : undefined;
  if (key === undefined) return;
  const value = params?.[key];
  const sent = headers['mcp-name'];
  if (sent === undefined) {
    if (typeof value === 'string') throw mismatch('The header Mcp-Name is missing.');
    return;
  }
  const name = decoded(String(sent));
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
  return errorWithDetail('header_mismatch', detail);
}
