import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { expect } from 'chai';
import { GatewayError } from '../../../../src/core/kernel/errors.ts';
import { argumentsShape, createReadArguments } from '../../../../src/core/mcp/tools/arguments.ts';
import { writeCursor } from '../../../../src/core/mcp/tools/list-page.ts';
import type { Offered } from '../../../../src/core/reads/catalogue/catalogue.ts';
import { createRepresentations } from '../../../../src/core/reads/representations/representations.ts';
import { createSnapshotCache } from '../../../../src/core/reads/snapshots/cache.ts';
import type { Load } from '../../../../src/core/reads/snapshots/load.ts';
import { RESOURCES } from '../../../../src/core/resources/index.ts';
import { callerWith } from '../../../support/authorization/caller.ts';
import { catalogueOf, type Reader } from '../../../support/catalogue.ts';
import { toolItem } from '../../../support/platform/loads.ts';
import { TOOL_NAMES } from '../../../support/resources.ts';
import { asked, cachedFor, loadOf, NOW, provenanceOf } from '../asked.ts';

const ITEMS = Array.from({ length: 120 }, (_, index) =>
  toolItem(`tool-${index}`, { category: index % 2 === 0 ? 'EVEN' : 'ODD' }),
);
const list: Reader = () => loadOf(ITEMS, cachedFor(1000));

/** Calls a tool, and gives its result. */
async function callTool(name: string, args?: object, options: Parameters<typeof asked>[0] = { read: list }) {
  const { json, record, bugs } = await asked(options).current('tools/call', { name, arguments: args });
  return { ...json.result, record, bugs };
}

const call = (args?: object, options?: Parameters<typeof asked>[0]) => callTool('list_installed_tools', args, options);

let validate: ValidateFunction;
type Page = Pick<Awaited<ReturnType<typeof call>>, 'content' | 'structuredContent'>;

/** Asserts that a page has the form of the tool's schema, and is the same as data and as text. */
function expectForm({ content, structuredContent }: Page): void {
  expect(validate(structuredContent), JSON.stringify(validate.errors)).to.equal(true);
  expect(JSON.parse(content[0].text)).to.deep.equal(structuredContent);
}

/** The catalogue of a test, of whose tools settings know these values. */
function knowing(known: Readonly<Record<string, readonly string[]>>, read: Reader) {
  const catalogue = catalogueOf(read);
  return { ...catalogue, offered: catalogue.offered.map((one) => ({ ...one, known })) };
}

describe('the list of tools', () => {
  it('has a read-only tool for each resource', async () => {
    const { tools } = (await asked().current('tools/list')).json.result;
    expect(tools.map(({ name }: { name: string }) => name)).to.deep.equal(TOOL_NAMES);
    for (const { annotations } of tools) {
      expect(annotations).to.deep.equal({
        readOnlyHint: true,
        destructiveHint: false,
        idempotentHint: true,
        openWorldHint: true,
      });
    }
  });

  it('describes the filters of each tool', async () => {
    const { tools } = (await asked().earlier('tools/list')).json.result;
    const keys = tools.map((tool: { inputSchema: { properties: object } }) => Object.keys(tool.inputSchema.properties));
    expect(keys).to.deep.equal(
      RESOURCES.map(({ filters }) => [
        ...['query', ...filters, 'fields'],
        ...(filters.length > 0 ? ['count_by'] : []),
        ...['limit', 'cursor'],
      ]),
    );
    for (const { inputSchema } of tools) {
      expect(inputSchema).to.include({ type: 'object' }).and.not.have.property('additionalProperties');
      expect(inputSchema).not.to.have.property('required');
    }
  });

  it('contains bounds in words only, because hosts drop the others', async () => {
    const { text, json } = await asked().current('tools/list');
    expect(json.result.tools[0].inputSchema.properties.limit.description).to.contain('0 to 500, default 50');
    expect(text).not.to.match(/"(\$schema|additionalProperties|(max|min)(imum|Length|Items)|default)":/);
  });

  it('is found by the words that people use, one and several', async () => {
    const { tools } = (await asked({ maxResultBytes: 1_000_000 }).current('tools/list')).json.result;
    for (const [index, words] of [
      'project projects application applications app workspace workspaces',
      'workflow workflows playbook playbooks automation automations runbook',
      'tool tools scanner scanners integration integrations connector connectors',
    ].entries()) {
      const { description, _meta } = tools[index];
      for (const word of words.split(' ')) {
        expect(description.toLowerCase().split(/\W+/), word).to.include(word);
        expect(_meta['anthropic/searchHint'].split(' '), word).to.include(word);
      }
      expect(_meta['anthropic/maxResultSizeChars']).to.equal(1_000_000);
    }
  });

  it('names the configured values only', async () => {
    const read = () => loadOf([toolItem('a', { category: 'OF_ONE_CALLER' })], cachedFor(1000));
    const { current } = asked({ catalogue: knowing({ category: ['SCANNER', 'with\nline', 'FIREWALL'] }, read) });
    const listed = async () => (await current('tools/list')).text;
    const before = await listed();
    const { description } = JSON.parse(before).result.tools[2].inputSchema.properties.category;
    expect(description).to.equal('Known: "SCANNER", "FIREWALL", others.');
    const { result } = (await current('tools/call', { name: 'list_installed_tools', arguments: { category: 'x' } }))
      .json;
    expect(result.structuredContent.hint).to.contain('"OF_ONE_CALLER"');
    expect(await listed()).to.equal(before);
  });

  it('is the same in both revisions, except for ttlMs', async () => {
    const { current, earlier } = asked();
    expect((await earlier('tools/list')).json.result).to.deep.equal({
      tools: (await current('tools/list')).json.result.tools,
    });
  });
});

describe('a tool', () => {
  before(async () => {
    const { tools } = (await asked().current('tools/list')).json.result;
    validate = new Ajv2020().compile(tools[2].outputSchema);
  });

  it('returns the first 50 items, as data and as text, in the form of its schema', async () => {
    const { structuredContent, content, isError } = await call();
    expect(isError).to.equal(undefined);
    expect(structuredContent.items).to.deep.equal(ITEMS.slice(0, 50));
    expect(structuredContent.total).to.equal(120);
    expect(content).to.have.length(1);
    expectForm({ content, structuredContent });
  });

  it('returns no cursor with the last page or an empty one', async () => {
    expect((await call({ limit: 120 })).structuredContent).not.to.have.property('nextCursor');
    const { structuredContent } = await call({ query: 'nothing like it' });
    expect(structuredContent).to.include({ total: 0 }).and.not.have.property('nextCursor');
    expect(structuredContent.items).to.deep.equal([]);
  });

  it('returns lists that are not stored', async () => {
    const { structuredContent } = await callTool('list_projects', {}, { read: () => loadOf([{ id: 'a' }]) });
    expect(structuredContent).to.deep.equal({ items: [{ id: 'a' }], total: 1 });
  });

  it('caches the pages of a snapshot in the default size', async () => {
    const cache = createSnapshotCache({ maxBytes: 1_000_000, maxEntries: 10 });
    const caller = callerWith();
    const cached = { key: cache.keyOf('tools', caller), freshUntil: NOW + 1000, stored: false };
    const stored = loadOf(ITEMS, { cached });
    cache.begin('tools', caller).store(stored);
    const held = () => cache.get('tools', caller) ?? stored;
    const options = { read: held, representations: createRepresentations(cache) };
    const first = await call({}, options);
    const { nextCursor } = first.structuredContent;
    const idsOf = async (args: object) => {
      const { structuredContent } = await call(args, options);
      return structuredContent.items.map(({ id }: { id: string }) => Number(id.slice('tool-'.length)));
    };
    const range = (from: number, to: number) => Array.from({ length: to - from }, (_, index) => from + index);
    expect(await idsOf({ limit: 50 })).to.deep.equal(range(0, 50));
    expect(await idsOf({ limit: 50, cursor: '' })).to.deep.equal(range(0, 50));
    expect(await idsOf({ query: '', cursor: nextCursor })).to.deep.equal(range(50, 100));
    expect(await idsOf({ limit: 49 })).to.deep.equal(range(0, 49));
    expect(await idsOf({ category: 'ODD', limit: 2 })).to.deep.equal([1, 3]);
    const { structuredContent: ten } = await call({ limit: 10 }, options);
    expect(await idsOf({ cursor: ten.nextCursor })).to.deep.equal(range(10, 60));
    const pages = [0, 50, 10].map((offset) => `derived page ${offset} 7000`);
    expect(Object.keys(held().snapshot.representations)).to.deep.equal(pages);
    expect(await call({}, options)).to.deep.include({
      structuredContent: first.structuredContent,
    });
    const { result } = (await asked(options).earlier('tools/call', { name: 'list_installed_tools' })).json;
    const { content, structuredContent } = first;
    expect(result).to.deep.equal({ content, structuredContent, _meta: provenanceOf(stored) });
  });

  it('has no items for a cursor past the end', async () => {
    const place = { etag: loadOf(ITEMS).snapshot.etag, filter: { query: undefined, values: {} } };
    for (const offset of [100, 150, 5_000_000]) {
      const { structuredContent } = await call({ cursor: writeCursor(place, offset) }, { read: list });
      expect(structuredContent.items).to.deep.equal(ITEMS.slice(offset, offset + 50));
    }
  });

  it('has the total, the cursor and the first page in the first 7000 bytes', async () => {
    const items = Array.from({ length: 300 }, (_, index) => toolItem(`tool-${index}`, { description: 'ä'.repeat(99) }));
    const options = { read: () => loadOf(items, cachedFor(1000)) };
    const seen: object[] = [];
    let cursor: string | undefined;
    do {
      const { structuredContent, content } = await call({ cursor }, options);
      const { text } = content[0];
      expect(Buffer.byteLength(text)).to.be.within(6000, 7000);
      expect(text).to.match(/^\{"total":300,"nextCursor":"[\w-]{16}","items":\[\{"id":/);
      expect(text).to.equal(JSON.stringify(structuredContent));
      seen.push(...structuredContent.items);
      cursor = structuredContent.nextCursor;
    } while (seen.length < 250);
    expect(seen).to.deep.equal(items.slice(0, seen.length));
  });

  it('returns a single item that is longer than a page', async () => {
    const items = [1, 2].map((id) => toolItem(`tool-${id}`, { description: 'x'.repeat(9000) }));
    const { structuredContent } = await call({}, { read: () => loadOf(items) });
    expect(structuredContent.items).to.deep.equal([items[0]]);
    expect(structuredContent).to.have.property('nextCursor');
  });

  it('has the provenance of its list, and in the page what a model needs of it', async () => {
    const error = new GatewayError('upstream_timeout', { upstream: 'platform' });
    const { cached } = cachedFor(-1);
    const loaded = 'Loaded at 2023-11-14T22:13:20.000Z.';
    for (const [rest, provenance, remarks] of [
      [cachedFor(1), {}, {}],
      [{}, {}, {}],
      [{ excluded: 3 }, { leftOut: { bySettings: 3, invalid: 0 } }, { leftOut: { bySettings: 3 } }],
      [{ dropped: 2 }, { leftOut: { bySettings: 0, invalid: 2 } }, { leftOut: { invalid: 2 } }],
      [{ cached }, { stale: true }, { stale: `${loaded} It is being refreshed.` }],
      [
        { cached, refreshError: 'upstream_failed' },
        { stale: true, staleReason: 'upstream_failed' },
        { stale: `${loaded} The platform could not be read since then: upstream_failed.` },
      ],
      [
        { cached: { ...cached, error } },
        { stale: true, staleReason: 'upstream_timeout' },
        { stale: `${loaded} The platform could not be read since then: upstream_timeout.` },
      ],
    ] as const) {
      const load = loadOf(ITEMS.slice(0, 1), rest as Partial<Load>);
      const { 'portico/list': whole } = provenanceOf(load);
      const options = { read: () => load };
      const { _meta, structuredContent, content } = await call({}, options);
      expect(_meta['portico/list']).to.deep.equal({ ...whole, ...provenance });
      expect(structuredContent).to.deep.equal({ total: 1, ...remarks, items: ITEMS.slice(0, 1) });
      expectForm({ content, structuredContent });
      const { json } = await asked(options).current('resources/read', { uri: 'platform://tools' });
      expect(json.result._meta).to.deep.equal(_meta);
    }
  });

  it('names ignored arguments in its metadata', async () => {
    const { _meta } = await call({ limit: 1, wait_for_previous: true });
    expect(_meta['portico/ignoredArguments']).to.deep.equal(['wait_for_previous']);
    expect((await call({ limit: 1 }))._meta).not.to.have.property('portico/ignoredArguments');
  });

  it('names ignored arguments to the model, too, unless a host adds them to every call', async () => {
    const { structuredContent, content } = await call({
      state: 'open',
      wait_for_previous: true,
    });
    expect(structuredContent.ignoredArguments).to.deep.equal(['state']);
    expect(JSON.parse(content[0].text)).to.deep.equal(structuredContent);
    const usual = await call({ wait_for_previous: true });
    expect(usual.structuredContent).not.to.have.property('ignoredArguments');
  });

  it('answers list_changed when the list has changed between two pages', async () => {
    let items = ITEMS;
    const options = { read: () => loadOf(items, cachedFor(1000)) };
    const { nextCursor } = (await call({}, options)).structuredContent;
    items = ITEMS.slice(1);
    const { isError, content, _meta } = await call({ cursor: nextCursor }, options);
    expect(isError).to.equal(true);
    expect(content[0].text).to.match(/^list_changed: .*start again without a cursor/);
    expect(_meta['portico/error']).to.deep.equal({ code: 'list_changed', requestId: 'request-of-the-test' });
  });

  it('accepts a cursor with another limit, and rejects it with another filter', async () => {
    const { nextCursor } = (await call({ limit: 10 })).structuredContent;
    expect((await call({ limit: 5, cursor: nextCursor })).structuredContent.items[0].id).to.equal('tool-10');
    const { isError, content } = await call({ cursor: nextCursor, query: 'a' });
    expect(isError).to.equal(true);
    expect(content[0].text).to.contain('belongs to other arguments');
  });

  it('accepts a cursor with the same filter in another case, and with other fields', async () => {
    const { nextCursor } = (await call({ limit: 10, category: 'ODD' })).structuredContent;
    const { structuredContent } = await call({
      category: 'odd',
      fields: 'id',
      cursor: nextCursor,
    });
    expect(structuredContent.items[0]).to.deep.equal({ id: 'tool-21' });
  });

  it('filters by every field, also by those that its schema does not name', async () => {
    const { structuredContent } = await call({ id: 'TOOL-7', category: 'odd' });
    expect(structuredContent.items).to.deep.equal([ITEMS[7]]);
    expect((await callTool('list_projects', { version: '9' })).structuredContent.total).to.equal(120);
  });

  it('keeps the names of few unknown arguments, short and printable', () => {
    const [{ resource }] = catalogueOf(list).offered as [Offered];
    const read = createReadArguments({ resource }, argumentsShape({ resource, known: {} }));
    const many = Object.fromEntries(Array.from({ length: 80_000 }, (_, index) => [`a${index}`, 0]));
    for (const [given, ignored] of [
      [{}, []],
      [{ query: 'a', wait_for_previous: true }, ['wait_for_previous']],
      [JSON.parse('{"__proto__":1,"a\\u202e\\nb":1}'), ['__proto__', 'a\uFFFD\uFFFDb']],
      [{ ['x'.repeat(900_000)]: 1 }, [`${'x'.repeat(40)}…`]],
      [many, ['a0', 'a1', 'a2', 'a3', 'a4', '…']],
    ] as const) {
      expect(read(given).ignored).to.deep.equal(ignored);
    }
  });

  it('returns only the total with limit 0', async () => {
    const { structuredContent } = await call({ limit: 0, category: 'ODD' });
    expect(structuredContent).to.deep.equal({ items: [], total: 60 });
  });

  it('is also called by its first name, and recorded by its name', async () => {
    for (const { name, tool } of RESOURCES) {
      const { structuredContent, record } = await callTool(`list_${name}`, {});
      expect(structuredContent.total).to.equal(120);
      expect(record.tool).to.equal(tool);
    }
  });

  it('returns the requested fields, in the documented order, in the form of its schema', async () => {
    for (const [fields, keys] of [
      [
        ['category', 'id'],
        ['id', 'category'],
      ],
      [['name', 'name'], ['name']],
      [['description', 'category', 'version', 'name', 'id'], Object.keys(toolItem('a'))],
    ] as const) {
      const { structuredContent, content } = await call({ fields, limit: 3 });
      const picked = ITEMS.slice(0, 3).map((item) =>
        Object.fromEntries(keys.map((key) => [key, (item as Record<string, string>)[key]])),
      );
      expect(JSON.stringify(structuredContent.items)).to.equal(JSON.stringify(picked));
      expect(structuredContent.total).to.equal(120);
      expectForm({ content, structuredContent });
    }
  });

  it('returns the requested fields of filtered items, page by page', async () => {
    const seen: { id: string }[] = [];
    let cursor: string | undefined;
    do {
      const { structuredContent } = await call({
        limit: 25,
        category: 'even',
        fields: 'id',
        cursor,
      });
      seen.push(...structuredContent.items);
      cursor = structuredContent.nextCursor;
    } while (cursor !== undefined && seen.length < 200);
    expect(seen).to.deep.equal(Array.from({ length: 60 }, (_, index) => ({ id: `tool-${index * 2}` })));
  });

  it('fits more items on a page with fewer fields', async () => {
    const options = { read: list, maxResultBytes: 2048 };
    const { content } = await call({ limit: 50 }, options);
    expect(content[0].text).to.match(/^result_too_large: .*name the fields that you need/);
    expect((await call({ limit: 50, fields: ['id'] }, options)).structuredContent.items).to.have.length(50);
  });

  it('stops when the caller disconnects while it selects fields of large items', async () => {
    const large = { description: 'x'.repeat(300_000) };
    const items = Array.from({ length: 20 }, (_, index) => toolItem(`tool-${index}`, large));
    const controller = new AbortController();
    const { parse } = JSON;
    let parsed = 0;
    JSON.parse = (text, reviver) => {
      parsed += text.length > 300_000 ? 1 : 0;
      if (parsed === 3) controller.abort();
      return parse(text, reviver);
    };
    try {
      const arguments_ = { name: 'list_installed_tools', arguments: { fields: ['id'] } };
      const asking = asked({ read: () => loadOf(items, cachedFor(1)) }).current(
        'tools/call',
        arguments_,
        {},
        {
          signal: controller.signal,
        },
      );
      expect(await asking.catch((error: unknown) => error)).to.have.property('name', 'AbortError');
    } finally {
      JSON.parse = parse;
    }
    expect(parsed).to.equal(3);
  });

  it('returns a hint with the existing values when nothing matches, in the form of its schema', async () => {
    const options = { catalogue: knowing({ category: ['EVEN', 'PRIME'] }, list) };
    for (const [args, hint] of [
      [
        { category: 'prim' },
        'No item fits. category is one of these in this list: "EVEN", "ODD"; known, but not in this list: "PRIME".',
      ],
      [
        { category: 'odd', query: 'xyz' },
        'No item fits all of this together. category is one of these in this list: "EVEN", "ODD"; known, but not in this list: "PRIME". query: search for a shorter text, or omit it.',
      ],
      [{ query: 'xyz' }, 'No item fits. query: search for a shorter text, or omit it.'],
    ] as const) {
      const { structuredContent, content, isError } = await call(args, options);
      expect(isError).to.equal(undefined);
      expect(structuredContent).to.deep.equal({ items: [], total: 0, hint });
      expectForm({ content, structuredContent });
    }
  });

  it('hints at why there is nothing', async () => {
    const none = 'The platform has none for this caller.';
    const left = 'None of the items that the platform has is left: see leftOut.';
    const empty = 'No item fits. category has no value in this list.';
    for (const [load, args, page] of [
      [loadOf([toolItem('a', { category: '' })]), { category: 'x' }, { total: 0, hint: empty, items: [] }],
      [loadOf([]), { category: 'x' }, { total: 0, hint: none, items: [] }],
      [loadOf([]), { limit: 0 }, { total: 0, hint: none, items: [] }],
      [loadOf([]), {}, { total: 0, hint: none, items: [] }],
      [
        loadOf([], { excluded: 7, dropped: 1 }),
        { fields: ['id'] },
        { total: 0, leftOut: { bySettings: 7, invalid: 1 }, hint: left, items: [] },
      ],
    ] as const) {
      const { structuredContent, content } = await call(args, { read: () => load });
      expect(structuredContent).to.deep.equal(page);
      expect(content[0].text).to.equal(JSON.stringify(page));
    }
  });

  it('returns no hint when something matches, or without room for it', async () => {
    const many = Array.from({ length: 20 }, (_, index) => toolItem(`${index}`, { category: `${index}`.repeat(30) }));
    expect((await call({ category: 'ODD' })).structuredContent).not.to.have.property('hint');
    const narrow = { read: () => loadOf(many), maxResultBytes: 1024 };
    expect((await call({ category: 'x' }, narrow)).structuredContent).to.deep.equal({
      items: [],
      total: 0,
    });
    const wide = { read: () => loadOf(many) };
    expect((await call({ category: 'x' }, wide)).structuredContent).to.have.property('hint');
  });

  it("hints at values of the caller's own list only", async () => {
    const { current } = asked({
      read: ({ caller }) => loadOf([toolItem('a', { category: caller.key === 'one' ? 'A' : 'B' })], cachedFor(1000)),
    });
    const hintOf = async (key: string) => {
      const caller = { ...callerWith(), key };
      const { json } = await current(
        'tools/call',
        { name: 'list_installed_tools', arguments: { category: 'x' } },
        {},
        { caller },
      );
      return json.result.structuredContent.hint;
    };
    const [one, two] = [await hintOf('one'), await hintOf('two')];
    expect(one).to.contain('"A"').and.not.contain('"B"');
    expect(two).to.contain('"B"').and.not.contain('"A"');
  });

  it('answers result_too_large with arguments that make the result fit', async () => {
    const options = { read: list, maxResultBytes: 2048 };
    const { isError, content, record } = await call({ limit: 50 }, options);
    expect(isError).to.equal(true);
    const text: string = content[0].text;
    expect(text)
      .to.match(/^result_too_large: /)
      .and.contain('narrow the list with query or a filter');
    const limit = Number(/Set limit to (\d+) or less/.exec(text)?.[1]);
    const fitting = await call({ limit }, options);
    expect(fitting.structuredContent.items).to.have.length(limit);
    expect(Buffer.byteLength(fitting.content[0].text)).to.be.lessThan(2049);
    expect(record.error?.code).to.equal('result_too_large');
  });

  it('refers to the resource when not even one item fits', async () => {
    const read = () => loadOf([toolItem('a', { description: 'x'.repeat(3000) })], cachedFor(1));
    const { content } = await call({}, { read, maxResultBytes: 1024 });
    expect(content[0].text).to.contain('Not even one').and.contain('Read the resource');
  });

  it('names every invalid argument, without an upstream request', async () => {
    let reads = 0;
    const read = () => {
      reads += 1;
      return loadOf([]);
    };
    for (const [args, told] of [
      [{ limit: -1 }, ['limit: ']],
      [{ limit: 501 }, ['limit: ']],
      [{ limit: '501' }, ['limit: ']],
      [{ limit: '5.5', query: 1 }, ['limit: ', 'query: ']],
      [{ fields: 7 }, ['fields: ']],
      [{ fields: 'id, status' }, ['fields: 1: ', 'id', 'category']],
      [{ fields: ['id', 'status'] }, ['fields: 1: ', 'id', 'category']],
      [{ count_by: ['id', 'status'] }, ['count_by: 1: ', 'id', 'category']],
      [{ count_by: Array(6).fill('id') }, ['count_by: ', '5', 'id, name, version, category, description']],
      [{ fields: Array(6).fill('id') }, ['fields: ', '5', 'id, name, version, category, description']],
    ] as const) {
      const { isError, content, bugs } = await call(args as object, { read });
      expect(isError).to.equal(true);
      expect(content[0].text).to.match(/^invalid_params: /);
      for (const word of told) expect(content[0].text).to.contain(word);
      expect(bugs).to.deep.equal([]);
    }
    expect(reads).to.equal(0);
  });

  it('returns a failed read for the model to act on', async () => {
    const error = new GatewayError('breaker_open', { upstream: 'tools', retryAfterSeconds: 9, reason: 'secret' });
    const read = () => {
      throw error;
    };
    const { isError, content, structuredContent, _meta, record } = await call({}, { read });
    expect(isError).to.equal(true);
    expect(structuredContent).to.equal(undefined);
    expect(content[0].text)
      .to.match(/^breaker_open: The platform failed repeatedly/)
      .and.contain('Wait 9 s')
      .and.contain('request-of-the-test')
      .and.not.contain('secret');
    expect(_meta['portico/error']).to.deep.equal({
      code: 'breaker_open',
      requestId: 'request-of-the-test',
      upstream: 'tools',
      retryAfterSeconds: 9,
    });
    expect(record).to.include({ error, tool: 'list_installed_tools', resource: 'tools', rpc: 'tools/call' });
  });

  it('returns a bug as an internal error, without its text', async () => {
    const bug = new Error('secret');
    const read = () => {
      throw bug;
    };
    const { isError, content, bugs } = await call({}, { read });
    expect(isError).to.equal(true);
    expect(content[0].text)
      .to.match(/^internal: /)
      .and.not.contain('secret');
    expect(bugs).to.have.length(1);
    expect(bugs[0]?.stack).to.contain('secret');
  });

  it('that does not exist leads to a JSON-RPC error with the known tools', async () => {
    for (const name of ['list_nothing', 'constructor', '']) {
      const { json } = await asked().earlier('tools/call', { name });
      expect(json.error.code).to.equal(-32602);
      expect(json.error.message).to.contain(`There are: ${TOOL_NAMES.join(', ')}.`);
      expect(json.error.data.code).to.equal('invalid_params');
    }
  });

  it('is not called without a name or with arguments that are not an object', async () => {
    for (const params of [
      {},
      { name: 5 },
      { name: 'list_installed_tools', arguments: [] },
      { name: 'list_installed_tools', arguments: 'a' },
    ]) {
      const { json } = await asked().earlier('tools/call', params);
      expect(json.error).to.deep.include({
        code: -32602,
        message: 'The parameters are invalid for this method.',
      });
      expect(json.error.data.code).to.equal('invalid_params');
    }
  });
});
