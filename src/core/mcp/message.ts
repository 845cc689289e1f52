import type { JSONRPCNotification, JSONRPCRequest, RequestId } from '@modelcontextprotocol/server';
import { explained, GatewayError } from '../kernel/errors.ts';
import { excessOf, isObject, type Json } from '../kernel/json-shape.ts';

/** `RELATED_TASK_META_KEY` of the SDK, which is not loaded for it: tracing imports this file before the first request. */
const RELATED_TASK = 'io.modelcontextprotocol/related-task';

const UTF8 = new TextDecoder('utf-8', { fatal: true });

/** Throws for invalid UTF-8. */
export function decodeUtf8(bytes: Uint8Array): string {
  return UTF8.decode(bytes);
}

/** Throws `parse_error`, or `too_large`: the 80,000 values of 1 MiB take longer to parse than all other work on a message. */
export function parseMessage(bytes: Uint8Array, maxValues: number): unknown {
  // Each value takes at least one byte.
  if (bytes.length > maxValues && excessOf(bytes, { maxValues, maxLevels: maxValues }) !== undefined) {
    const detail = `A message can have at most ${maxValues} objects, lists and members.`;
    throw explained('too_large', detail, { bound: 'mcp.maxMessageValues' });
  }
  try {
    return JSON.parse(decodeUtf8(bytes));
  } catch (cause) {
    throw new GatewayError('parse_error', { cause });
  }
}

/* The SDK's own guards of these take 5 % of a cached read. A test compares both. */

export function isRequest(value: unknown): value is JSONRPCRequest {
  return isMessage(value, ['id', 'method', 'params']) && isId(value['id']) && isCall(value);
}

export function isNotification(value: unknown): value is JSONRPCNotification {
  return isMessage(value, ['method', 'params']) && isCall(value);
}

/** Whether a value is a JSON-RPC 2.0 object with only these members. */
function isMessage(value: unknown, members: readonly string[]): value is Json {
  if (!isObject(value) || value['jsonrpc'] !== '2.0') return false;
  for (const name in value) if (name !== 'jsonrpc' && !members.includes(name)) return false;
  return true;
}

function isCall({ method, params }: Json): boolean {
  if (typeof method !== 'string') return false;
  if (params === undefined) return true;
  if (!isObject(params)) return false;
  const { _meta: meta } = params;
  if (meta === undefined) return true;
  if (!isObject(meta)) return false;
  const { progressToken, [RELATED_TASK]: task } = meta;
  if (progressToken !== undefined && !isId(progressToken)) return false;
  return task === undefined || (isObject(task) && typeof task['taskId'] === 'string');
}

function isId(value: unknown): boolean {
  return typeof value === 'string' || Number.isSafeInteger(value);
}

/** The id for the response to a message: `null` if it has no readable one. */
export function idOf(message: unknown): RequestId | null {
  const id: unknown = Array.isArray(message) ? undefined : Object(message).id;
  return typeof id === 'string' || typeof id === 'number' ? id : null;
}

/** Levels of a value that are passed to a guard of the SDK, which is recursive: more would exhaust the stack. */
const MAX_LEVELS = 100;

/** Whether a value passes a guard of the SDK. */
export function fits<T>(guard: (value: unknown) => value is T, value: unknown): value is T {
  return isShallow(value, MAX_LEVELS) && guard(value);
}

function isShallow(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return true;
  return levels > 0 && Object.values(value).every((one) => isShallow(one, levels - 1));
}

/** Every client method of the protocol, in any revision. */
const METHODS: ReadonlySet<unknown> = new Set([
  ...['completion/complete', 'initialize', 'logging/setLevel', 'ping', 'prompts/get', 'prompts/list'],
  ...['resources/list', 'resources/read', 'resources/subscribe', 'resources/templates/list', 'resources/unsubscribe'],
  ...['server/discover', 'subscriptions/listen', 'tools/call', 'tools/list'],
  ...['cancelled', 'initialized', 'progress', 'roots/list_changed'].map((name) => `notifications/${name}`),
]);

/** Returns a message's method for the log, if the protocol defines it. Other external text is never logged. */
export function loggedMethod(message: unknown): string {
  const method: unknown = Object(message).method;
  return typeof method === 'string' && METHODS.has(method) ? method : 'other';
}
