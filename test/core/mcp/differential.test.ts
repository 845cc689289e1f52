import { isDeepStrictEqual } from 'node:util';
import * as SDK from '@modelcontextprotocol/server';
import { expect } from 'chai';
import fc from 'fast-check';
import { ERRORS, type ErrorCode } from '../../../src/core/kernel/error-table.ts';
import { isObject } from '../../../src/core/kernel/json-shape.ts';
import { normalizeParams } from '../../../src/core/mcp/message.ts';
import { EARLIER_REVISIONS, META } from '../../../src/core/mcp/revisions.ts';
import { atDepth } from '../../support/depth.ts';
import { toolItem } from '../../support/platform/loads.ts';
import { SEED, SEEDED } from '../../support/seed.ts';
import { asked, CLIENT, cachedFor, ENVELOPE, loadOf } from './asked.ts';
import { connectStdio } from './connected.ts';
import { DIFFERENCES } from './differential/differences.ts';
import { EXCHANGES, type Exchange, enveloped, type Json, message, type Told } from './differential/exchange.ts';
import { messagesIn, type Offer, sdkOverHttp, sdkOverStdio } from './differential/sdk.ts';
import { messages } from './fuzz/messages.ts';

const ITEMS = ['a', 'ä"\\\u2028', 'b'].map((id) => toolItem(id)) as Offer['items'];
const TTL_MS = 4321;
const OFFER: Offer = { items: ITEMS, ttlMs: TTL_MS };
const read = () => loadOf(ITEMS, cachedFor(TTL_MS));
const GENERATED = atDepth(200, 10_000);

/** What is compared. Of errors, the code: their words and data are those of the error table, in ours. */
function compared({ status, messages }: Told): Told {
  return {
    status,
    messages: messages.map(comparedMessage).sort((a, b) => (JSON.stringify(a.id) < JSON.stringify(b.id) ? -1 : 1)),
  };
}

function comparedMessage(message: Json): Json {
  const { error, result, ...rest } = message;
  if (error !== undefined) return { ...rest, error: { code: error.code } };
  // Of tools, whether they take their arguments: what they find is compared with the plain list elsewhere.
  if (result?.content !== undefined) return { ...rest, result: { isError: result.isError ?? false } };
  return message;
}

function parsed({ body }: Exchange): Json {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(body)));
  } catch {
    return undefined;
  }
}

/** Members that Portico does not use, and therefore does not check: of `_meta`, and of what clients say about themselves and listen to. */
const UNUSED = ['progressToken', 'io.modelcontextprotocol/logLevel', 'io.modelcontextprotocol/related-task'];
const CAPABILITIES = 'io.modelcontextprotocol/clientCapabilities';

function only(object: Json, ...names: readonly string[]): Json {
  return isObject(object)
    ? Object.fromEntries(Object.entries(object).filter(([name]) => names.includes(name)))
    : object;
}

function withoutUnused({ params, ...message }: Json): Json {
  const used = { ...params };
  if (isObject(used._meta)) {
    used._meta = Object.fromEntries(Object.entries(used._meta).filter(([name]) => !UNUSED.includes(name)));
    if (CAPABILITIES in used._meta) used._meta[CAPABILITIES] = only(used._meta[CAPABILITIES]);
  }
  if ('capabilities' in used) used.capabilities = only(used.capabilities);
  if ('clientInfo' in used) used.clientInfo = only(used.clientInfo, 'name', 'version');
  if ('notifications' in used) used.notifications = only(used.notifications, 'resourceSubscriptions');
  return { ...message, params: message.method === 'initialize' ? only(used, ...USED) : used };
}

/** Of a request and a notification: the schemas of the protocol allow more, and the SDK refuses them. */
const MEMBERS = ['jsonrpc', 'id', 'method', 'params'];

const USED = ['protocolVersion', 'capabilities', 'clientInfo', '_meta'];

/** Null stands for what is left out, and an empty list for an object: the SDK refuses both. What nests too deep to be written is sent as it is. */
function forSdk(exchange: Exchange): Exchange {
  try {
    const sent = parsed(exchange);
    const known = sent?.method === undefined ? sent : only(sent, ...MEMBERS);
    const clean = isObject(sent?.params) ? withoutUnused(normalizeParams(known)) : normalizeParams(known);
    return isDeepStrictEqual(clean, sent) ? exchange : { ...exchange, body: Buffer.from(JSON.stringify(clean)) };
  } catch {
    return exchange;
  }
}

/** The SDK's response with the documented differences applied, and their names. */
function expected(told: Told, exchange: Exchange): { readonly told: Told; readonly by: readonly string[] } {
  const by: string[] = [];
  let so = compared(told);
  for (const { why, instead } of DIFFERENCES) {
    const other = instead(so, parsed(exchange), exchange);
    if (other === undefined) continue;
    so = compared(other);
    by.push(why);
  }
  return { told: so, by };
}

const shown = ({ body, headers }: Exchange) => `${JSON.stringify(headers)} ${body.toString().slice(0, 2000)}`;

describe('the revisions and the members of _meta', () => {
  it('have the names of the SDK', () => {
    expect(EARLIER_REVISIONS).to.deep.equal(SDK.SUPPORTED_PROTOCOL_VERSIONS);
    expect(META).to.deep.equal({
      revision: SDK.PROTOCOL_VERSION_META_KEY,
      client: SDK.CLIENT_INFO_META_KEY,
      capabilities: SDK.CLIENT_CAPABILITIES_META_KEY,
      server: SDK.SERVER_INFO_META_KEY,
      subscription: SDK.SUBSCRIPTION_ID_META_KEY,
    });
  });
});

describe('a request to POST /mcp and to the SDK', () => {
  const handler = asked({ read, hiddenText: 'keep' });
  let sdk: (exchange: Exchange) => Promise<Told>;

  before(async () => {
    sdk = await sdkOverHttp(OFFER);
  });

  async function ours({ body, headers }: Exchange): Promise<Told> {
    const { status, text, bugs } = await handler.raw(body, { headers });
    expect(bugs).to.deep.equal([]);
    const messages = messagesIn(text);
    for (const { error } of messages) if (error !== undefined) expectRowOf(error);
    return { status, messages };
  }

  /** Compares both responses, and returns the differences that applied. */
  async function compare(exchange: Exchange): Promise<readonly string[]> {
    const { told, by } = expected(await sdk(forSdk(exchange)), exchange);
    expect(compared(await ours(exchange)), shown(exchange)).to.deep.equal(told);
    return by;
  }

  const met = new Set<string>();
  for (const [kind, exchanges] of Object.entries(EXCHANGES)) {
    it(`gets the same status, results and error codes: ${exchanges.length} ${kind}`, async () => {
      for (const exchange of exchanges) for (const why of await compare(exchange)) met.add(why);
    });
  }

  it('meets every documented difference', () => {
    expect([...met]).to.have.members(DIFFERENCES.map(({ why }) => why));
  });

  it(`gets the same status, results and error codes: ${GENERATED} generated messages ${SEEDED}`, async function () {
    this.timeout(60_000);
    const value = (honest: string) =>
      fc.oneof(
        { weight: 8, arbitrary: fc.constant<string | undefined>(/^[\x21-\x7e]*$/.test(honest) ? honest : undefined) },
        { weight: 1, arbitrary: fc.constantFrom(undefined, 'a', '2025-11-25', '2025-03-26', '2031-01-01') },
      );
    const exchanges = messages.chain(({ body, method, name }) =>
      fc
        .record({ protocolVersion: value('2026-07-28'), method: value(method), name: value(name) })
        .chain((all) => fc.constantFrom(all, all, { protocolVersion: undefined, method: undefined, name: undefined }))
        .map((headers): Exchange => ({ body, headers })),
    );
    for (const exchange of fc.sample(exchanges, { numRuns: GENERATED, seed: SEED })) {
      await compare(exchange);
    }
  });
});

/** Each error names its row of the error table. Before 2026-07-28 an unknown resource has a code of its own. */
function expectRowOf({ code, data }: Json): void {
  const row: { readonly status: number; readonly rpc?: number } = ERRORS[data.code as ErrorCode];
  expect(code).to.equal(code === -32002 && data.code === 'resource_unknown' ? code : row.rpc);
  expect(data.requestId).to.equal('request-of-the-test');
}

describe('a conversation over stdio with portico and with the SDK', () => {
  const initialize = message('initialize', { ...CLIENT, protocolVersion: '2025-06-18' }, 'i');
  const uri = 'platform://tools';
  const readTools = (id: string, of?: Json) =>
    message('resources/read', of === undefined ? { uri } : enveloped({ uri }, of), id);
  const discover = message('server/discover', enveloped(), 'd');
  const unknown = { ...ENVELOPE, 'io.modelcontextprotocol/protocolVersion': '2031-01-01' };
  const broken = { ...ENVELOPE, 'io.modelcontextprotocol/clientInfo': 1 };
  // Of one revision each: the first message decides about all that follow at the SDK, and each about itself at Portico.
  const conversations: Readonly<Record<string, readonly object[]>> = {
    'an earlier revision': [initialize, { jsonrpc: '2.0', method: 'notifications/initialized' }, readTools('a')],
    'an earlier revision, without initialize': [message('ping', {}, 'a'), readTools('b')],
    '2026-07-28': [discover, readTools('a', ENVELOPE), message('ping', enveloped(), 'b')],
    '2026-07-28, without a question for what there is': [readTools('a', ENVELOPE), discover],
    'an earlier revision after a question for what there is': [discover, initialize, readTools('a')],
    'a revision that is not spoken': [readTools('a', unknown), initialize, readTools('b')],
    'an envelope that is not whole': [readTools('a', broken), discover],
    'a tool': [message('tools/call', { name: 'list_installed_tools', arguments: { limit: 2 } }, 'a')],
    'a subscription': [message('subscriptions/listen', enveloped({ notifications: { toolsListChanged: true } }), 'a')],
    'a subscription to nothing that is one': [message('subscriptions/listen', enveloped({ notifications: 1 }), 'a')],
  };

  async function ours(messages: readonly object[]): Promise<Json[]> {
    const { input, connection, write, answers } = connectStdio({ read, hiddenText: 'keep' }, { maxBodyBytes: 100_000 });
    for (const one of messages) write(one);
    input.end();
    expect(await connection.closed).to.equal(true);
    return answers();
  }

  for (const [what, messages] of Object.entries(conversations)) {
    it(`gets the same messages: ${what}`, async () => {
      const sdk = await sdkOverStdio(OFFER);
      const told = { status: 200, messages: await sdk(messages) };
      expect(compared({ status: 200, messages: await ours(messages) })).to.deep.equal(compared(told));
    });
  }
});
