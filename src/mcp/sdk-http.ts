import type { IncomingHttpHeaders } from 'node:http';
import type { InboundHttpRequest, JSONRPCMessage } from '@modelcontextprotocol/server';
import type { Ask } from './ask.ts';
import { finished } from './rpc-error.ts';

/** One answer over HTTP. */
export interface McpAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** In one piece, or in several that are sent one after the other. */
  readonly body: Buffer | readonly Buffer[];
}

/** One that is in one piece. */
export interface WholeAnswer extends McpAnswer {
  readonly body: Buffer;
}

/** Headers that the protocol gives a meaning. The SDK is shown no others. */
export const MCP_HEADERS = ['mcp-protocol-version', 'mcp-method', 'mcp-name'] as const;

/** The SDK reads no more of a URL than that there is one. */
const ADDRESS = 'http://portico.invalid/mcp';

/** How every answer begins that is no error, as the SDK writes them. */
const RESULT = '{"result":';

/** A request as the SDK classifies it. */
export function inbound(headers: IncomingHttpHeaders, body: unknown): InboundHttpRequest {
  const [version, method, name] = MCP_HEADERS.map((header) => headers[header]);
  return {
    httpMethod: 'POST',
    body,
    ...(typeof version === 'string' && { protocolVersionHeader: version }),
    ...(typeof method === 'string' && { mcpMethodHeader: method }),
    ...(typeof name === 'string' && { mcpNameHeader: name }),
  };
}

/** A request as the SDK serves it, beside its parsed body. */
export function webRequest(headers: IncomingHttpHeaders, signal: AbortSignal): Request {
  const shown = new Headers({ 'content-type': 'application/json' });
  for (const name of MCP_HEADERS) {
    const value = headers[name];
    if (typeof value === 'string') shown.set(name, value);
  }
  return new Request(ADDRESS, { method: 'POST', headers: shown, signal });
}

/** The SDK's answer, its errors finished. */
export async function wholeAnswer(response: Response, ask: Ask): Promise<WholeAnswer> {
  const type = response.headers.get('content-type');
  const body = Buffer.from(await response.arrayBuffer());
  if (type === null) return { status: response.status, headers: {}, body };
  if (!type.startsWith('application/json')) {
    return { status: response.status, headers: { ...NOT_STORED, 'Content-Type': type }, body };
  }
  const text = body.toString('latin1', 0, RESULT.length);
  if (text !== RESULT) {
    const message: JSONRPCMessage = JSON.parse(body.toString());
    return jsonAnswer(response.status, finished(message, 'modern', ask));
  }
  return { status: response.status, headers: JSON_HEADERS, body };
}

export function jsonAnswer(status: number, message: unknown): WholeAnswer {
  return { status, headers: JSON_HEADERS, body: Buffer.from(JSON.stringify(message)) };
}

const NOT_STORED = { 'Cache-Control': 'no-store' };

/** Headers of every answer that is JSON. */
export const JSON_HEADERS = { ...NOT_STORED, 'Content-Type': 'application/json' };
