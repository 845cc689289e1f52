import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { expect } from 'chai';
import { GatewayError } from '../../../../src/core/kernel/errors.ts';
import type { Load } from '../../../../src/core/reads/snapshots/load.ts';
import { RESOURCES } from '../../../../src/core/resources/index.ts';
import { catalogueOf, type Reader } from '../../../support/catalogue.ts';
import { toolItem } from '../../../support/platform/loads.ts';
import { asked, cachedFor, loadOf, provenanceOf } from '../asked.ts';

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

const listed = async (options?: Parameters<typeof asked>[0]) =>
  (await asked(options).current('tools/list')).json.result.tools;

let validate: ValidateFunction;

/** Calls the tool. Its page has the form of the tool's schema, and is the same as data and as text. */
async function callWell(args?: object, options?: Parameters<typeof asked>[0]) {
  const { content, structuredContent, isError, ...rest } = await call(args, options);
  expect(validate(structuredContent), JSON.stringify(validate.errors)).to.equal(true);
  expect(JSON.parse(content[0].text)).to.deep.equal(structuredContent);
  expect([content.length, isError]).to.deep.equal([1, undefined]);
  return { ...rest, text: content[0].text, page: structuredContent };
}

/** The catalogue of a test, of whose tools settings know these values. */
function knowing(known: Readonly<Record<string, readonly string[]>>, read: Reader) {
  const catalogue = catalogueOf(read);
  return { ...catalogue, offered: catalogue.offered.map((one) => ({ ...one, known })) };
}

describe('the list of tools', () => {
  it('describes the filters of each tool, with bounds in words only, because hosts drop the others', async () => {
    const tools = await listed();
    for (const [index, { filters, formats }] of RESOURCES.entries()) {
      const { inputSchema } = tools[index];
      const time = Object.values<string>(formats).includes('timestamp') ? ['created_after'] : [];
      const counting = filters.length > 0 ? ['count_by'] : [];
      expect(Object.keys(inputSchema)).to.deep.equal(['type', 'properties']);
      const names = ['query', ...filters, 'fields', ...counting, 'sort', ...time, 'limit', 'cursor'];
      expect(Object.keys(inputSchema.properties)).to.deep.equal(names);
      expect(inputSchema.properties.limit.description).to.contain('0 to 500, default 50');
    }
    const bounds = /"(\$schema|additionalProperties|(max|min)(imum|Length|Items)|default)":/;
    expect(JSON.stringify(tools)).not.to.match(bounds);
  });

  it('names the configured values only', async () => {
    const read = () => loadOf([toolItem('a', { category: 'OF_ONE_CALLER' })], cachedFor(1000));
    const { current } = asked({ catalogue: knowing({ category: ['SCANNER', 'with\nline', 'FIREWALL'] }, read) });
    const before = (await current('tools/list')).text;
    const { description } = JSON.parse(before).result.tools[2].inputSchema.properties.category;
    expect(description).to.equal('Known: "SCANNER", "FIREWALL", others.');
    const params = { name: 'list_installed_tools', arguments: { category: 'x' } };
    expect((await current('tools/call', params)).json.result.structuredContent.hint).to.contain('"OF_ONE_CALLER"');
    expect((await current('tools/list')).text).to.equal(before);
  });
});

describe('a tool', () => {
  before(async () => {
    validate = new Ajv2020().compile((await listed())[2].outputSchema);
  });

  it('returns the first 50 items, with the total and the cursor before them', async () => {
    const { page, text } = await callWell();
    expect(page.items).to.deep.equal(ITEMS.slice(0, 50));
    expect(text).to.match(/^\{"total":120,"nextCursor":"1e\.[\w-]{8}","items":\[\{"id":/);
  });

  it('has the provenance of its list, and in the page what a model needs of it', async () => {
    const error = new GatewayError('upstream_timeout', { upstream: 'platform' });
    const { cached } = cachedFor(-1);
    const loaded = 'Loaded at 2023-11-14T22:13:20.000Z.';
    const failed = `${loaded} The platform could not be read since then:`;
    for (const [rest, provenance, remarks] of [
      [cachedFor(1), {}, {}],
      [{ excluded: 3 }, { leftOut: { bySettings: 3, invalid: 0 } }, { leftOut: { bySettings: 3 } }],
      [{ dropped: 2 }, { leftOut: { bySettings: 0, invalid: 2 } }, { leftOut: { invalid: 2 } }],
      [{ cached }, { stale: true }, { stale: `${loaded} It is being refreshed.` }],
      [
        { cached, refreshError: 'upstream_failed' },
        { stale: true, staleReason: 'upstream_failed' },
        { stale: `${failed} upstream_failed.` },
      ],
      [
        { cached: { ...cached, error } },
        { stale: true, staleReason: 'upstream_timeout' },
        { stale: `${failed} upstream_timeout.` },
      ],
    ] as const) {
      const load = loadOf(ITEMS.slice(0, 1), rest as Partial<Load>);
      const { _meta, page } = await callWell({}, { read: () => load });
      const { 'portico/list': whole } = provenanceOf(load);
      expect(_meta['portico/list']).to.deep.equal({ ...whole, ...provenance });
      expect(page).to.deep.equal({ total: 1, ...remarks, items: ITEMS.slice(0, 1) });
      const { json } = await asked({ read: () => load }).current('resources/read', { uri: 'platform://tools' });
      expect(json.result._meta).to.deep.equal(_meta);
    }
  });

  it('names ignored arguments in its metadata, and to the model unless a host adds them to every call', async () => {
    for (const [ignored, misread] of [
      [[], []],
      [['wait_for_previous'], []],
      [['state', 'wait_for_previous'], ['state']],
      [['tool', 'toolCallId'], []],
    ] as const) {
      const { _meta, page } = await callWell(Object.fromEntries(ignored.map((name) => [name, true])));
      expect(_meta['portico/ignoredArguments'] ?? []).to.deep.equal(ignored);
      expect(page.ignoredArguments ?? []).to.deep.equal(misread);
    }
  });

  it('filters by every field, also by those that its schema does not name', async () => {
    expect((await callWell({ id: 'TOOL-7', category: 'odd' })).page.items).to.deep.equal([ITEMS[7]]);
    expect((await callTool('list_projects', { version: '9' })).structuredContent.total).to.equal(120);
  });

  it('returns a hint with the existing values when nothing matches', async () => {
    const options = { read: list };
    const category = 'category is one of these in this list: "EVEN", "ODD".';
    const query = 'query: use a shorter text, or omit it.';
    for (const [args, hint] of [
      [{ category: 'prim' }, `No item fits. ${category}`],
      [{ category: 'odd', query: 'xyz' }, `No item fits. ${category} ${query}`],
      [{ query: 'xyz' }, `No item fits. ${query}`],
      [{ category: 'ODD', limit: 0 }, undefined],
    ] as const) {
      const { page } = await callWell(args, options);
      expect(page).to.deep.equal({ total: hint === undefined ? 60 : 0, ...(hint && { hint }), items: [] });
    }
  });

  it('hints at why there is nothing', async () => {
    const none = 'The platform returned no items for this caller.';
    const empty = 'No item fits. category has no value in this list.';
    for (const [load, args, remarks] of [
      [loadOf([toolItem('a', { category: '' })]), { category: 'x' }, { hint: empty }],
      [loadOf([]), { category: 'x' }, { hint: none }],
      [loadOf([]), {}, { hint: none }],
      [loadOf([], { excluded: 7, dropped: 1 }), { fields: ['id'] }, { leftOut: { bySettings: 7, invalid: 1 } }],
    ] as const) {
      const { text } = await callWell(args, { read: () => load });
      expect(text).to.equal(JSON.stringify({ total: 0, ...remarks, items: [] }));
    }
  });

  it('answers result_too_large with arguments that make the result fit', async () => {
    const options = { read: list, maxResultBytes: 2048 };
    const { isError, content, record } = await call({ limit: 50 }, options);
    expect(isError).to.equal(true);
    const text: string = content[0].text;
    expect(text).to.match(/^result_too_large: .*narrow the list with query or a filter.*name the fields that you need/);
    expect(record.error?.code).to.equal('result_too_large');
    const limit = Number(/Set limit to (\d+) or less/.exec(text)?.[1]);
    const fitting = await callWell({ limit }, options);
    expect(fitting.page.items).to.have.length(limit);
    expect(Buffer.byteLength(fitting.text)).to.be.at.most(2048);
    expect((await callWell({ limit: 50, fields: ['id'] }, options)).page.items).to.have.length(50);
    const large = { ...options, read: () => loadOf([toolItem('a', { description: 'x'.repeat(3000) })]) };
    expect((await call({}, large)).content[0].text)
      .to.contain('Not even one')
      .and.contain('Read the resource');
  });

  it('names every invalid argument, without an upstream request', async () => {
    const read = () => expect.fail('it is read');
    const all = 'id, name, version, category, description';
    for (const [args, told] of [
      [{ limit: -1 }, ['limit: ']],
      [{ limit: 501 }, ['limit: ']],
      [{ limit: '501' }, ['limit: ']],
      [{ limit: '5.5', query: 1 }, ['limit: ', 'query: ']],
      [{ fields: 7 }, ['fields: ']],
      [{ fields: 'id, status' }, ['fields: 1: ', 'id', 'category']],
      [{ fields: ['id', 'status'] }, ['fields: 1: ', 'id', 'category']],
      [{ count_by: ['id', 'status'] }, ['count_by: 1: ', 'id', 'category']],
      [{ count_by: Array(6).fill('id') }, ['count_by: ', '5', all]],
      [{ fields: Array(6).fill('id') }, ['fields: ', '5', all]],
    ] as const) {
      const { isError, content, bugs } = await call(args as object, { read });
      expect(isError).to.equal(true);
      expect(content[0].text).to.match(/^invalid_params: /);
      for (const word of told) expect(content[0].text).to.contain(word);
      expect(bugs).to.deep.equal([]);
    }
  });

  it('returns a failed read for the model to act on', async () => {
    const facts = { upstream: 'tools', retryAfterSeconds: 9 };
    const error = new GatewayError('breaker_open', { ...facts, reason: 'secret' });
    const failed = await call({}, { read: () => Promise.reject(error) });
    expect(failed.isError).to.equal(true);
    expect(failed.structuredContent).to.equal(undefined);
    expect(failed.content[0].text)
      .to.match(/^breaker_open: The platform failed repeatedly.* Try again after 9 s\..*request-of-the-test/)
      .and.not.contain('secret');
    const told = { code: 'breaker_open', requestId: 'request-of-the-test', ...facts };
    expect(failed._meta['portico/error']).to.deep.equal(told);
    for (const [code, remedy] of [
      ['upstream_failed', 'Trying again may help. Wait 9 s before the next attempt. (upstream tools'],
      ['upstream_invalid', "Portico's operator finds the reason in the log by the requestId."],
    ] as const) {
      const other = await call({}, { read: () => Promise.reject(new GatewayError(code, facts)) });
      expect(other.content[0].text).to.contain(remedy);
    }
    expect(failed.record).to.include({ error, tool: 'list_installed_tools', resource: 'tools', rpc: 'tools/call' });
  });
});
