import { errorWithDetail, GatewayError } from '../kernel/errors.ts';
import { excessOf, isObject } from '../kernel/json-shape.ts';
import { META } from './revisions.ts';

export type RequestId = string | number;

/** Parameters of a message. Members are checked where they are used. */
interface Params {
  readonly _meta?: Readonly<Record<string, unknown>>;
  readonly [name: string]: unknown;
}

export interface JSONRPCNotification {
  readonly jsonrpc: '2.0';
  readonly method: string;
  readonly params?: Params;
}

export interface JSONRPCRequest extends JSONRPCNotification {
  readonly id: RequestId;
}

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
    throw errorWithDetail('too_large', detail, { bound: 'mcp.maxMessageValues' });
  }
  try {
    const text = decodeUtf8(bytes);
    const message: unknown = JSON.parse(text);
    return text.includes('null') || text.includes('[]') ? normalizeParams(message) : message;
  } catch (cause) {
    throw new GatewayError('parse_error', { cause });
  }
}

/** Levels of parameters in which null is looked for: members of `_meta`, of `arguments` and of `notifications` are the lowest that have a meaning. */
const NULL_LEVELS = 2;

/**
 * Leaves out parameters that are null: many clients send it for each optional one that has no value. An empty list stands for an
 * object without members, which PHP writes so.
 */
export function normalizeParams(message: unknown): unknown {
  if (!isObject(message) || message['params'] === undefined) return message;
  const { params, ...rest } = message;
  return params === null ? rest : { ...rest, params: normalized(params, NULL_LEVELS) };
}

function normalized(value: unknown, levels: number): unknown {
  if (levels > 0 && Array.isArray(value) && value.length === 0) return {};
  if (!isObject(value) || levels === 0) return value;
  // A claim of an envelope is one whatever its value is.
  const members = Object.entries(value).filter(([name, member]) => member !== null || name === META.revision);
  return Object.fromEntries(members.map(([name, member]) => [name, normalized(member, levels - 1)]));
}

/** The id for the response to a message: `null` if it has none that can be returned as it is. */
export function idOf(message: unknown): RequestId | null {
  const id: unknown = Array.isArray(message) ? undefined : Object(message).id;
  return typeof id === 'string' || isExactNumber(id) ? id : null;
}

function isExactNumber(id: unknown): id is number {
  return typeof id === 'number' && Math.abs(id) <= Number.MAX_SAFE_INTEGER;
}

/** Describes the first member because of which an object is no request or notification. Others are ignored: the schemas of the protocol allow them. */
export function shapeFlaw(message: unknown): string | undefined {
  const { jsonrpc, id, method, params } = Object(message);
  if (jsonrpc !== '2.0') return 'jsonrpc: Must be "2.0".';
  if (typeof id === 'number' && !isExactNumber(id)) return 'id: A number above 2^53 - 1 is not exact. Send it as text.';
  if (id !== undefined && typeof id !== 'string' && !Number.isInteger(id)) return 'id: Must be text or a whole number.';
  if (typeof method !== 'string') return 'method: Must be text.';
  if (params === undefined) return undefined;
  if (!isObject(params)) return 'params: Must be an object.';
  return params['_meta'] === undefined || isObject(params['_meta']) ? undefined : 'params._meta: Must be an object.';
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
