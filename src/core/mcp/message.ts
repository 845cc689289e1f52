import type { JSONRPCNotification, JSONRPCRequest, JSONRPCResponse, RequestId } from '@modelcontextprotocol/server';
import { explained, GatewayError } from '../kernel/errors.ts';
import { excessOf } from '../kernel/json-shape.ts';

/** `RELATED_TASK_META_KEY` of the SDK, which is not loaded for it: tracing imports this file before the first request. */
const RELATED_TASK = 'io.modelcontextprotocol/related-task';

const UTF8 = new TextDecoder('utf-8', { fatal: true });

/** Throws for invalid UTF-8. */
export function decodeUtf8(bytes: Uint8Array): string {
  return UTF8.decode(bytes);
}

/**
 * Parses a body or line. Throws `parse_error` for invalid JSON or UTF-8, and `too_large` for more objects, lists and
 * members than allowed: 80,000 of them fit into 1 MiB and take longer to parse than all other work on a message.
 */
export function parseMessage(bytes: Uint8Array, maxValues: number): unknown {
  // Each value takes at least one byte.
  if (bytes.length > maxValues && excessOf(bytes, { maxValues, maxLevels: maxValues }) !== undefined) {
    const detail = `A message may hold ${maxValues} objects, lists and members.`;
    throw explained('too_large', detail, { bound: 'mcp.maxMessageValues' });
  }
  try {
    return JSON.parse(decodeUtf8(bytes));
  } catch (cause) {
    throw new GatewayError('parse_error', { cause });
  }
}

/*
 * Guards of messages. Those of the SDK walk over all that a message holds: 50 to 100 ms for a wide one of 1 MiB, and 5 % of a
 * cached read. These check what JSON-RPC and the protocol require of every message; a test compares both.
 */

/** A parsed JSON value: `Object.hasOwn` finds members of any name. */
type Members = Readonly<Record<string, unknown>>;

export function isRequest(value: unknown): value is JSONRPCRequest {
  return isMessage(value, ['id', 'method', 'params']) && isId(value['id']) && isCall(value);
}

export function isNotification(value: unknown): value is JSONRPCNotification {
  return isMessage(value, ['method', 'params']) && isCall(value);
}

export function isResponse(value: unknown): value is JSONRPCResponse {
  if (isMessage(value, ['id', 'result'])) {
    const { id, result } = value;
    return isId(id) && isObject(result) && (result['_meta'] === undefined || isObject(result['_meta']));
  }
  if (!isMessage(value, ['id', 'error'])) return false;
  const { id, error } = value;
  const isError = isObject(error) && Number.isSafeInteger(error['code']) && typeof error['message'] === 'string';
  return isError && (id === undefined || isId(id));
}

/** Returns whether a value is a JSON-RPC 2.0 object with only these members. */
function isMessage(value: unknown, members: readonly string[]): value is Members {
  if (!isObject(value) || value['jsonrpc'] !== '2.0') return false;
  for (const name in value) if (name !== 'jsonrpc' && !members.includes(name)) return false;
  return true;
}

function isCall({ method, params }: Members): boolean {
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

export function isObject(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Returns the id for the response to a message: `null` if it has no readable one. */
export function idOf(message: unknown): RequestId | null {
  const id: unknown = Array.isArray(message) ? undefined : Object(message).id;
  return typeof id === 'string' || typeof id === 'number' ? id : null;
}

/** Maximum number of values, and of levels, that are passed to a guard of the SDK. */
const MAX_VALUES = 10_000;
const MAX_DEPTH = 100;

/**
 * Returns whether a value passes a guard of the SDK. Its schemas visit every value recursively, so wide values would
 * take long, and deep ones would exhaust the stack. Clients never send such values legitimately.
 */
export function fits<T>(guard: (value: unknown) => value is T, value: unknown): value is T {
  return isModest(value) && guard(value);
}

function isModest(value: unknown): boolean {
  let values = 0;
  let level = [value];
  for (let depth = 0; depth <= MAX_DEPTH; depth += 1) {
    const next: unknown[] = [];
    for (const one of level) {
      if (typeof one !== 'object' || one === null) continue;
      for (const name in one) {
        values += 1;
        if (values > MAX_VALUES) return false;
        next.push((one as Readonly<Record<string, unknown>>)[name]);
      }
    }
    if (next.length === 0) return true;
    level = next;
  }
  return false;
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
  if (Array.isArray(message)) return 'batch';
  const method: unknown = Object(message).method;
  return typeof method === 'string' && METHODS.has(method) ? method : 'other';
}
