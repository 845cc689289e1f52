import { randomInt } from 'node:crypto';
import { expect } from 'chai';
import fc from 'fast-check';
import { createSnapshotCache } from '../../../src/snapshots/cache.ts';
import type { Load } from '../../../src/snapshots/load.ts';
import { createQuotes } from '../../../src/snapshots/quotes.ts';
import { type Answered, asked, cachedFor, ENVELOPE, loadOf, type Read, toolItem } from '../asked.ts';

const FRESH = loadOf([toolItem('ä"\\\u2028'), toolItem('"ttlMs":1,"id":1}')], { upstreamMs: 0, ...cachedFor(5000) });
const LATER = loadOf([toolItem('another')], { upstreamMs: 0, ...cachedFor(77) });
const STALE = loadOf([toolItem('old')], { upstreamMs: 0, ...cachedFor(-1) });

/** The same endpoint twice: one asks the SDK for each answer. */
function both(tools = true) {
  let held: Load | undefined = FRESH;
  let quotes = 0;
  const quote = createQuotes(createSnapshotCache({ maxBytes: 1_000_000, maxEntries: 10 }));
  const read = ({ noCache }: Read) => (noCache ? STALE : (held ?? STALE));
  const common = { read, fresh: () => held, tools };
  const repeating = asked({
    ...common,
    quote(load) {
      quotes += 1;
      return quote(load);
    },
  });
  return {
    repeating,
    sdk: asked(common),
    hold: (load: Load | undefined) => {
      held = load;
    },
    quotes: () => quotes,
  };
}

const METHODS = [
  'resources/read',
  'resources/list',
  'resources/templates/list',
  'tools/list',
  'server/discover',
  'ping',
  'tools/call',
  'initialize',
  'notifications/initialized',
  'nothing',
];
const URIS = ['platform://tools', 'platform://projects', 'platform://nothing', '', 7];
const ids = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom<unknown[]>(1, 2, 'a', 'b-2') },
  fc.constantFrom<unknown[]>(0, -1, -0, 1.5, 1e300, 2 ** 53, '', 'ü', '"', null, undefined, [], {}, true),
  fc.string(),
);
const meta = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom<unknown[]>(ENVELOPE, undefined) },
  fc.constantFrom<unknown[]>(
    { ...ENVELOPE, progressToken: 1 },
    { ...ENVELOPE, 'io.modelcontextprotocol/protocolVersion': '2031-01-01' },
    { ...ENVELOPE, 'io.modelcontextprotocol/protocolVersion': '2025-11-25' },
    { ...ENVELOPE, 'io.modelcontextprotocol/clientInfo': 7 },
    { ...ENVELOPE, id: 1 },
    { progressToken: 'id' },
    {},
    null,
    'meta',
  ),
);
const message = fc
  .record({
    method: fc.oneof({ weight: 3, arbitrary: fc.constant('resources/read') }, fc.constantFrom(...METHODS)),
    id: ids,
    uri: fc.oneof({ weight: 4, arbitrary: fc.constant('platform://tools') }, fc.constantFrom(...URIS)),
    meta,
    more: fc.oneof(
      { weight: 6, arbitrary: fc.constant({}) },
      fc.constantFrom<object[]>({ cursor: 'x' }, { id: 1 }, { a: { id: 'a' } }, { name: 'list_tools' }),
    ),
    rest: fc.oneof(
      { weight: 6, arbitrary: fc.constant({}) },
      fc.constantFrom<object[]>(
        { jsonrpc: '1.0' },
        { extra: 1 },
        { params: undefined },
        { params: [] },
        { result: {} },
      ),
    ),
  })
  .map(({ method, id, uri, meta, more, rest }) => {
    const params = { ...(method === 'resources/read' && { uri }), ...(meta !== undefined && { _meta: meta }), ...more };
    return { jsonrpc: '2.0', id, method, params, ...rest };
  });
/** Ways of writing a message down, some of which are none. */
const written = fc.tuple(message, fc.constantFrom(0, 0, 0, 0, 0, 0, 1, 2, 3, 4, 5)).map(([one, way]) => {
  const text = JSON.stringify(one);
  return (
    [
      text,
      JSON.stringify(one, null, 1),
      text.replace('"id":', '"\\u0069d":'),
      text.replace('"id":', '"id":7,"id" :'),
      text.replace('"id":', '"id":0'),
      `[${text}]`,
    ][way] ?? text
  );
});
const headers = fc
  .record({
    version: fc.constantFrom('2026-07-28', '2026-07-28', '2025-11-25', '2025-03-26', '', undefined),
    method: fc.oneof(fc.constant('resources/read'), fc.constantFrom(...METHODS), fc.constant(undefined)),
    name: fc.constantFrom('platform://tools', 'platform://tools', 'platform://projects', '=?base64?eA==?=', undefined),
  })
  .map(({ version, method, name }) => ({
    ...(version !== undefined && { 'mcp-protocol-version': version }),
    ...(method !== undefined && { 'mcp-method': method }),
    ...(name !== undefined && { 'mcp-name': name }),
  }));
/** Headers that agree with the body, or any others. */
const request = fc
  .record({ body: written, any: fc.option(headers, { freq: 3 }) })
  .map(({ body, any }) => ({ body, headers: any ?? agreeing(body) }));

function agreeing(body: string): Record<string, string> {
  const method = /"method":"([^"]*)"/.exec(body)?.[1] ?? 'ping';
  const uri = /"uri":"([^"]*)"/.exec(body)?.[1];
  const named: Record<string, string> = uri === undefined ? {} : { 'mcp-name': uri };
  if (!body.includes('clientInfo')) return {};
  return { 'mcp-protocol-version': '2026-07-28', 'mcp-method': method, ...named };
}

/** The same request with another id, where its id is a plain one. */
function renamed(body: string): string {
  return body.replace(/"id":(?:1|2|"a"|"b-2")(?=[,}])/, '"id":"another"');
}

/** All of an answer and of what was told of its request, the latter in any order. */
function comparable({ status, headers, text, facts, bugs }: Answered): string {
  const { load, rpc, resource, upstreamMs, failure } = facts;
  const told = { etag: load?.snapshot.etag, rpc, resource, upstream: typeof upstreamMs, failure: failure?.code };
  return JSON.stringify({ status, headers, text, told, bugs: bugs.length });
}

describe('an answer that the SDK need not make', () => {
  const seed = randomInt(2 ** 31);
  it(`is the one that it would make (seed ${seed})`, async function () {
    this.timeout(180_000);
    const { repeating, sdk, hold, quotes } = both();
    await fc.assert(
      fc.asyncProperty(
        request,
        fc.constantFrom(FRESH, FRESH, FRESH, LATER, undefined),
        fc.boolean(),
        async ({ body, headers }, load, noCache) => {
          hold(load);
          for (const text of [body, body, renamed(body)]) {
            const terms = { headers, noCache: noCache && text === body };
            expect(comparable(await repeating.raw(text, terms))).to.equal(comparable(await sdk.raw(text, terms)));
          }
        },
      ),
      { numRuns: 1500, seed },
    );
    expect(quotes()).to.be.greaterThan(100);
  });

  for (const era of ['modern', 'legacy'] as const) {
    it(`holds what is held now, and how long that is fresh (${era})`, async () => {
      const { repeating, sdk, hold, quotes } = both();
      for (const load of [FRESH, LATER, FRESH]) {
        hold(load);
        const answer = await repeating[era]('resources/read', { uri: 'platform://tools' });
        expect(answer.text).to.equal((await sdk[era]('resources/read', { uri: 'platform://tools' })).text);
      }
      expect(quotes()).to.equal(3);
    });

    it(`is none for what is not fresh, or is to be asked for (${era})`, async () => {
      const { repeating, hold, quotes } = both();
      await repeating[era]('resources/read', { uri: 'platform://tools' });
      hold(undefined);
      const { json } = await repeating[era]('resources/read', { uri: 'platform://tools' });
      expect(json.result.contents[0].text).to.equal(STALE.snapshot.bytes.toString());
      expect(quotes()).to.equal(1);
    });
  }

  it('lacks the tools where they are switched off', async () => {
    const { repeating, sdk } = both(false);
    for (let time = 0; time < 2; time += 1) {
      expect((await repeating.modern('tools/list')).text).to.equal((await sdk.modern('tools/list')).text);
    }
  });

  it('is not the one to a request without a header, where that is empty or says so', async () => {
    const { repeating, sdk } = both();
    const ping = '{"jsonrpc":"2.0","id":1,"method":"ping"}';
    for (const version of [undefined, undefined, '', 'undefined', '2025-11-25']) {
      const terms = version === undefined ? {} : { headers: { 'mcp-protocol-version': version } };
      expect(comparable(await repeating.raw(ping, terms))).to.equal(comparable(await sdk.raw(ping, terms)));
    }
  });

  it('is not made from a message whose id is not what looks like it', async () => {
    const { repeating } = both();
    const nested = (id: number) => `{"jsonrpc":"2.0","\\u0069d":1,"method":"ping","params":{"a":{"id":${id}}}}`;
    await repeating.raw(nested(1));
    expect((await repeating.raw(nested(2))).json.id).to.equal(1);
  });
});
