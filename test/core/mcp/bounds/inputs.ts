import { loadOf as loadOfItems, toolItem } from '../../../support/platform/loads.ts';
import { rpc } from '../../../support/rpc.ts';
import { CLIENT, cachedFor, ENVELOPE, loadOf, NO_HEADERS } from '../asked.ts';

/** A list of that many mebibytes and a little more; parsed, it takes several times as much. */
export function listOf(mebibytes: number, isStored: boolean) {
  const items = Array.from({ length: mebibytes * 5200 }, (_, index) =>
    toolItem(`tool-${index}`, { description: `"Finds" all there is of kind ${index % 1000}. ${'x'.repeat(60)}` }),
  );
  return isStored ? loadOf(items, cachedFor(60_000)) : loadOf(items);
}

/** A hundred thousand items, as one snapshot holds them at most by default. */
export function manyItems() {
  return loadOfItems(Array.from({ length: 100_000 }, (_, index) => toolItem(`tool-${index}`)));
}

/** An object of so many members, as JSON. */
const wide = (members: number) => `{${Array.from({ length: members }, (_, index) => `"k${index}":0`).join(',')}}`;

/** Values of JSON that are as deep as that. */
const NESTED = {
  lists: (depth: number) => '['.repeat(depth) + ']'.repeat(depth),
  objects: (depth: number) => `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`,
};

/** Messages with a place for any value of the client, marked `VALUE`. */
const PLACES: Readonly<Record<string, object | string>> = {
  'all of it': 'VALUE',
  'an id': rpc('ping', {}, 'VALUE'),
  'a method': rpc('VALUE'),
  'an unknown member': { ...rpc('ping'), more: 'VALUE' },
  params: { ...rpc('ping'), params: 'VALUE' },
  'a member of params': rpc('ping', { a: 'VALUE' }),
  _meta: rpc('ping', { _meta: 'VALUE' }),
  'a member of _meta': rpc('ping', { _meta: { a: 'VALUE' } }),
  'a related task': rpc('ping', { _meta: { 'io.modelcontextprotocol/related-task': { taskId: 'a', b: 'VALUE' } } }),
  'a claim': rpc('ping', { _meta: { ...ENVELOPE, 'io.modelcontextprotocol/protocolVersion': 'VALUE' } }),
  'a client in an envelope': rpc('ping', { _meta: { ...ENVELOPE, 'io.modelcontextprotocol/clientInfo': 'VALUE' } }),
  'capabilities in an envelope': rpc('ping', {
    _meta: { ...ENVELOPE, 'io.modelcontextprotocol/clientCapabilities': { experimental: { a: 'VALUE' } } },
  }),
  'capabilities of initialize': rpc('initialize', {
    ...CLIENT,
    protocolVersion: '2025-11-25',
    capabilities: { experimental: { a: 'VALUE' } },
  }),
  'the client of initialize': rpc('initialize', { ...CLIENT, protocolVersion: '2025-11-25', clientInfo: 'VALUE' }),
  'the revision of initialize': rpc('initialize', { ...CLIENT, protocolVersion: 'VALUE' }),
  'a uri': rpc('resources/read', { uri: 'VALUE' }),
  'the name of a tool': rpc('tools/call', { name: 'VALUE' }),
  'arguments of a tool': rpc('tools/call', { name: 'list_installed_tools', arguments: 'VALUE' }),
  'an argument of a tool': rpc('tools/call', { name: 'list_installed_tools', arguments: { query: 'VALUE' } }),
  'an unknown argument of a tool': rpc('tools/call', { name: 'list_installed_tools', arguments: { a: 'VALUE' } }),
  'what a subscription is about': rpc('subscriptions/listen', { notifications: 'VALUE', _meta: ENVELOPE }),
  'a notification': { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 'VALUE', a: 'VALUE' } },
  'a result': { jsonrpc: '2.0', id: 1, result: { _meta: { a: 'VALUE' }, b: 'VALUE' } },
  'an error': { jsonrpc: '2.0', id: 1, error: { code: 1, message: '', data: 'VALUE' } },
};

/** Every place with this value in it, and the headers that go with it. */
export function* everywhere(value: string) {
  for (const [place, message] of Object.entries(PLACES)) {
    const text = JSON.stringify(message).replaceAll('"VALUE"', () => value);
    const isCurrent = text.includes('"2026-07-28"');
    const { method } = Object(message);
    const headers = isCurrent ? { ...NO_HEADERS, protocolVersion: '2026-07-28', method } : NO_HEADERS;
    yield { place, body: text, headers };
    const unknown = { ...headers, protocolVersion: '1999-01-01' };
    yield { place: `${place}, under an unknown revision`, body: text, headers: unknown };
  }
}

export const DEPTHS = [101, 3000, 40_000];

export function deep(depth: number): string[] {
  return Object.values(NESTED).map((nested) => nested(depth));
}

/** What fits a message of 1 MiB and would take long to parse, and what has as many values as a message may have. */
export const WIDE = [wide(80_000), `[${'[],'.repeat(300_000)}0]`, wide(9900), `[${'[],'.repeat(4900)}0]`];
