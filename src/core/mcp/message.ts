import type { RequestId } from '@modelcontextprotocol/server';
import { GatewayError } from '../kernel/errors.ts';
import { excessOf } from '../kernel/json-shape.ts';

const UTF8 = new TextDecoder('utf-8', { fatal: true });

/** Throws for what is not UTF-8. */
export function decodeUtf8(bytes: Uint8Array): string {
  return UTF8.decode(bytes);
}

/**
 * A body or a line as JSON. Throws `parse_error` for what is not JSON, or not UTF-8, and `too_large` for more than so many
 * objects, lists and members: 80,000 of them fit 1 MiB, and take longer to parse than all else that is done with a message.
 */
export function parseMessage(bytes: Uint8Array, maxValues: number): unknown {
  // Each value takes a byte at least.
  if (bytes.length > maxValues && excessOf(bytes, { maxValues, maxLevels: maxValues }) !== undefined) {
    const detail = `A message may hold ${maxValues} objects, lists and members.`;
    throw new GatewayError('too_large', { detail, bound: 'mcp.maxMessageValues' });
  }
  try {
    return JSON.parse(decodeUtf8(bytes));
  } catch (cause) {
    throw new GatewayError('parse_error', { cause });
  }
}

/** The id that the response to a message has: `null` where the message has none that could be read. */
export function idOf(message: unknown): RequestId | null {
  const id: unknown = Array.isArray(message) ? undefined : Object(message).id;
  return typeof id === 'string' || typeof id === 'number' ? id : null;
}

/** The most values that a guard of the SDK is shown, and how deep they may be nested. */
const MAX_VALUES = 10_000;
const MAX_DEPTH = 100;

/**
 * Whether a value is what a guard of the SDK says. Its schemas look at every value, one call within another: what is too
 * wide would take them long, and what is too deep would exhaust the stack. Neither is anything that a client could mean.
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

/** Every method that the protocol has for clients, in any of its revisions. */
const METHODS: ReadonlySet<unknown> = new Set([
  ...['completion/complete', 'initialize', 'logging/setLevel', 'ping', 'prompts/get', 'prompts/list'],
  ...['resources/list', 'resources/read', 'resources/subscribe', 'resources/templates/list', 'resources/unsubscribe'],
  ...['server/discover', 'subscriptions/listen', 'tools/call', 'tools/list'],
  ...['cancelled', 'initialized', 'progress', 'roots/list_changed'].map((name) => `notifications/${name}`),
]);

/** What the log calls a message: its method, if the protocol has it. Nothing else that came from outside is logged. */
export function loggedMethod(message: unknown): string {
  if (Array.isArray(message)) return 'batch';
  const method: unknown = Object(message).method;
  return typeof method === 'string' && METHODS.has(method) ? method : 'other';
}
