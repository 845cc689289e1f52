import { CLIENT, ENVELOPE, NO_HEADERS, type RpcHeaders } from '../asked.ts';

// biome-ignore lint/suspicious/noExplicitAny: whatever was sent and came back.
export type Json = any;

/** What is sent to both servers. */
export interface Exchange {
  readonly body: string | Buffer;
  readonly headers: RpcHeaders;
}

/** What comes back. */
export interface Told {
  readonly status: number;
  readonly messages: readonly Json[];
}

const TOOLS = 'platform://tools';
const CURRENT = '2026-07-28';

/** Messages with parameters as they should be, or not. */
const CALLS: readonly (readonly [method: string, params?: Json])[] = [
  ['ping'],
  ['server/discover'],
  ['resources/list'],
  ['resources/list', { cursor: 'a' }],
  ['resources/list', { cursor: 7 }],
  ['resources/templates/list'],
  ['resources/read', { uri: TOOLS }],
  ['resources/read', { uri: 'platform://projects', more: 1 }],
  ['resources/read', { uri: 'platform://nothing' }],
  ['resources/read', { uri: '__proto__' }],
  ['resources/read', { uri: 7 }],
  ['resources/read'],
  ['tools/list'],
  ['tools/call', { name: 'list_installed_tools' }],
  ['tools/call', { name: 'list_installed_tools', arguments: { limit: 1 } }],
  ['tools/call', { name: 'list_installed_tools', arguments: { query: 'B', category: 'SCANNER' } }],
  ['tools/call', { name: 'list_installed_tools', arguments: { fields: 'nothing' } }],
  ['tools/call', { name: 'list_installed_tools', arguments: { limit: 501 } }],
  ['tools/call', { name: 'list_installed_tools', arguments: { limit: 'all' } }],
  ['tools/call', { name: 'list_installed_tools', arguments: { limit: { toString: 1 } } }],
  ['tools/call', { name: 'list_installed_tools', arguments: { nothing: 1 } }],
  ['tools/call', { name: 'list_installed_tools', arguments: { query: 'x'.repeat(257) } }],
  ['tools/call', { name: 'list_installed_tools', arguments: { cursor: 'a' } }],
  ['tools/call', { name: 'list_installed_tools', arguments: [] }],
  ['tools/call', { name: 'list_installed_tools', arguments: null }],
  ['tools/call', { name: 'list_installed_tools', arguments: JSON.parse('{"__proto__":1}') }],
  ['tools/call', { name: 'list_nothing' }],
  ['tools/call', { name: 'constructor' }],
  ['tools/call', { name: 7 }],
  ['tools/call'],
  ['subscriptions/listen', { notifications: {} }],
  ['subscriptions/listen', { notifications: { resourcesListChanged: true, resourceSubscriptions: [TOOLS] } }],
  ['subscriptions/listen', { notifications: { resourcesListChanged: 1 } }],
  ['subscriptions/listen', {}],
  ['initialize', { ...CLIENT, protocolVersion: '2025-06-18' }],
  ['initialize', { ...CLIENT, protocolVersion: '2025-11-25' }],
  ['initialize', { ...CLIENT, protocolVersion: '2025-03-26' }],
  ['initialize', { ...CLIENT, protocolVersion: '2024-11-05' }],
  ['initialize', { ...CLIENT, protocolVersion: '2024-10-07' }],
  ['initialize', { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'test' } }],
  ['initialize', { ...CLIENT, protocolVersion: CURRENT }],
  ['initialize', { ...CLIENT, protocolVersion: 'nonsense' }],
  ['initialize', { ...CLIENT, protocolVersion: 1 }],
  ['initialize', {}],
  ['initialize', { ...CLIENT, protocolVersion: '2025-06-18', deep: nested(90) }],
  ['initialize', { ...CLIENT, protocolVersion: '2025-06-18', deep: nested(200) }],
  ['prompts/list'],
  ['prompts/get', { name: 'a' }],
  ['completion/complete', {}],
  ['logging/setLevel', { level: 'debug' }],
  ['resources/subscribe', { uri: TOOLS }],
  ['nothing'],
  ['__proto__'],
  [''],
];

const NOTIFICATIONS = ['notifications/initialized', 'notifications/cancelled', 'notifications/nothing', 'ping'];

export const message = (method: string, params?: Json, id: Json = 1) => ({ jsonrpc: '2.0', id, method, params });
export const enveloped = (params: Json = {}, envelope: Json = ENVELOPE) => ({ ...params, _meta: envelope });

function post(body: Json, headers: Partial<RpcHeaders> = {}): Exchange {
  return {
    body: typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body),
    headers: { ...NO_HEADERS, ...headers },
  };
}

/** A request of 2026-07-28 with the headers of an honest client, but for `headers`. */
function current(method: string, params: Json = {}, headers: Partial<RpcHeaders> = {}, envelope?: Json): Exchange {
  const name = params.uri ?? params.name;
  const honest = { protocolVersion: CURRENT, method, ...(typeof name === 'string' && { name }) };
  return post(message(method, enveloped(params, envelope)), { ...honest, ...headers });
}

const version = (of: Json) => ({ ...ENVELOPE, 'io.modelcontextprotocol/protocolVersion': of });
const base64 = (text: string) => `=?base64?${Buffer.from(text).toString('base64')}?=`;

function* currentOnes(): Generator<Exchange> {
  for (const [method, params] of CALLS) yield current(method, params);
  for (const headers of [
    ...[{ protocolVersion: undefined }, { protocolVersion: '2025-11-25' }, { protocolVersion: '2031-01-01' }],
    ...[{ protocolVersion: '' }, { method: undefined }, { method: 'ping' }, { method: '' }, { name: undefined }],
    ...[{ name: '' }, { name: 'platform://projects' }, { name: base64(TOOLS) }, { name: base64('ä') }],
    ...[{ name: '=?base64?%%?=' }, { name: '=?base64??=' }, { name: '=?base64?=' }, { name: '=?base64?/w==?=' }],
    ...[{ name: '=?BASE64?YQ==?=' }, { protocolVersion: undefined, method: undefined, name: undefined }],
    { protocolVersion: '2031-01-01', method: 'ping' },
  ]) {
    yield current('resources/read', { uri: TOOLS }, headers);
    yield current('resources/list', {}, headers);
    yield current('nothing', {}, headers);
  }
  const listening = message('subscriptions/listen', enveloped({ notifications: {} }), 'x'.repeat(257));
  yield post(listening, { protocolVersion: CURRENT, method: 'subscriptions/listen' });
  yield current('resources/read', {}, { name: TOOLS });
  yield current('tools/call', { name: 'list_installed_tools' }, { name: 'list_projects' });
  yield current('prompts/get', { name: 'a' }, { name: 'b' });
  yield current('prompts/get', { name: 'a' }, { name: undefined });
  for (const envelope of [
    ...[version('2031-01-01'), version('2025-11-25'), version(''), version(1), version(null), {}],
    { ...ENVELOPE, 'io.modelcontextprotocol/clientInfo': undefined },
    { ...ENVELOPE, 'io.modelcontextprotocol/clientInfo': 7 },
    { ...ENVELOPE, 'io.modelcontextprotocol/clientInfo': { name: 'a' } },
    { ...ENVELOPE, 'io.modelcontextprotocol/clientCapabilities': undefined },
    { ...ENVELOPE, 'io.modelcontextprotocol/clientCapabilities': null },
    { ...ENVELOPE, 'io.modelcontextprotocol/clientCapabilities': { elicitation: {}, sampling: {}, nothing: 1 } },
    { ...ENVELOPE, 'io.modelcontextprotocol/clientCapabilities': { elicitation: 1 } },
    { ...ENVELOPE, 'io.modelcontextprotocol/logLevel': 'debug' },
    { ...ENVELOPE, 'io.modelcontextprotocol/logLevel': 'loud' },
    { ...ENVELOPE, progressToken: 1 },
    { ...ENVELOPE, progressToken: 1.5 },
    { ...ENVELOPE, progressToken: {} },
    { progressToken: 1 },
    7,
  ]) {
    const named = Object(envelope)['io.modelcontextprotocol/protocolVersion'];
    for (const method of ['resources/list', 'initialize', 'nothing']) {
      yield current(method, {}, {}, envelope);
      if (typeof named === 'string') {
        yield current(method, {}, { protocolVersion: named }, envelope);
        yield current(method, {}, { protocolVersion: named, method: 'ping' }, envelope);
      }
      yield current(method, {}, { protocolVersion: undefined }, envelope);
    }
  }
  for (const id of ['a', '', 0, -1, 2 ** 53 - 1, 'ü"\\']) {
    yield post(message('resources/list', enveloped(), id), { protocolVersion: CURRENT, method: 'resources/list' });
    yield post(message('nothing', enveloped(), id), { protocolVersion: CURRENT, method: 'nothing' });
  }
}

function* earlierOnes(): Generator<Exchange> {
  const params = { ...CLIENT, protocolVersion: '2025-06-18' };
  for (const protocolVersion of [undefined, '2025-11-25', '2025-03-26', '2024-10-07']) {
    for (const call of CALLS) yield post(message(...call), { protocolVersion });
  }
  for (const protocolVersion of ['1999-01-01', '2025-06-19', '', CURRENT, '2031-01-01', '2025-11-25, 2025-11-25']) {
    for (const headers of [{ protocolVersion }, { protocolVersion, method: 'ping' }]) {
      yield post(message('ping'), headers);
      yield post(message('initialize', params), headers);
      yield post({ jsonrpc: '2.0', method: 'notifications/initialized' }, headers);
      yield post({ jsonrpc: '2.0', method: 'initialize', params }, headers);
      yield post({ jsonrpc: '2.0', method: 'initialize' }, headers);
      yield post({ jsonrpc: '2.0', id: 1, result: {} }, headers);
      yield post([message('ping')], headers);
    }
  }
  // The headers of 2026-07-28 mean nothing here.
  yield post(message('ping'), { method: 'nothing', name: 'nothing' });
}

function* notifications(): Generator<Exchange> {
  for (const method of NOTIFICATIONS) {
    for (const headers of [{}, { protocolVersion: CURRENT }, { protocolVersion: CURRENT, method: 'nothing' }]) {
      yield post({ jsonrpc: '2.0', method }, headers);
      for (const claim of [CURRENT, '2025-11-25', '2031-01-01', 1, null]) {
        yield post({ jsonrpc: '2.0', method, params: enveloped({}, version(claim)) }, headers);
        if (typeof claim !== 'string') continue;
        const other = { protocolVersion: claim, method: 'nothing' };
        yield post({ jsonrpc: '2.0', method, params: enveloped({}, version(claim)) }, other);
      }
      yield post({ jsonrpc: '2.0', method, params: enveloped({}, { ...version(CURRENT), ...{ a: 1 } }) }, headers);
    }
  }
}

function* noMessages(): Generator<Exchange> {
  for (const body of [
    ...['', ' ', 'hello', '{"jsonrpc":"2.0"', 'null', '1', '"a"', '{}', '[[]]', '\u2028', '[1]', '{"id":7}'],
    Buffer.from([0x22, 0xff, 0x22]),
    '\ufeff{"jsonrpc":"2.0","id":1,"method":"ping"}',
    ...[
      { jsonrpc: '1.0', id: 1, method: 'ping' },
      { id: 1, method: 'ping' },
      { jsonrpc: '2.0', id: 1 },
    ],
    ...[1.5, null, {}, [], true, 2 ** 53].map((id) => ({ ...message('ping'), id })),
    ...[[], 7, 'a', null].map((params) => message('ping', params)),
    ...[7, null, {}].map((method) => ({ ...message('ping'), method })),
    { ...message('ping'), more: 1 },
    { ...message('ping'), result: {} },
    { ...message('ping'), params: { _meta: 7 } },
    { ...message('ping'), params: { _meta: { progressToken: {} } } },
    { jsonrpc: '2.0', id: 1, result: 7 },
    { jsonrpc: '2.0', error: { code: 1, message: 'a' } },
    { jsonrpc: '2.0', id: 1, error: { code: 'a', message: 'a' } },
    { jsonrpc: '2.0', id: null, error: { code: 1, message: 'a' } },
    { jsonrpc: '2.0', id: null, error: 'a' },
  ]) {
    yield post(body);
    yield post(body, { protocolVersion: CURRENT, method: 'ping' });
  }
}

/** Requests written by hand, by kind. */
export const EXCHANGES: Readonly<Record<string, readonly Exchange[]>> = {
  'requests of 2026-07-28': [...currentOnes()],
  'requests of earlier revisions': [...earlierOnes()],
  notifications: [...notifications()],
  'bodies that are not messages': [...noMessages()],
};

/** Lists in each other. */
function nested(levels: number): Json {
  return JSON.parse(`${'['.repeat(levels)}${']'.repeat(levels)}`);
}
