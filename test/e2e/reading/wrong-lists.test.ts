import { expect } from 'chai';
import { type Body, withTools } from './with-tools.ts';

const UNPAGED = { pagination: { kind: 'none' } };

async function expectRefused(resource: object, body: Body, reason: string, ...keys: string[]) {
  const tools = await withTools({ ...UNPAGED, ...resource }, body);
  // Twice: what was made of a body is remembered.
  for (let time = 0; time < 2; time += 1) {
    const answer = await tools.read();
    expect(answer.status).to.equal(502);
    expect(answer.body).to.include({ code: 'upstream_invalid', upstream: 'tools' });
    for (const key of keys) expect(answer.body['detail']).to.contain(`resources.tools.${key}`);
  }
  expect(tools.reason()).to.contain(reason);
  for (const key of keys) expect(tools.reason()).to.contain(`resources.tools.${key}`);
  expect(tools.doubts()).to.deep.equal([]);
}

async function expectServed(resource: object, body: Body, count: number, ...doubts: string[]) {
  const tools = await withTools({ ...UNPAGED, ...resource }, body);
  for (let time = 0; time < 2; time += 1) {
    const answer = await tools.read();
    expect(answer.status, tools.reason()).to.equal(200);
    expect(answer.body).to.have.length(count);
  }
  expect(tools.doubts().map(({ finding }) => finding)).to.deep.equal(doubts);
}

const item = (id: number, more: object = {}) => ({ id: `t${id}`, name: `Tool ${id}`, ...more });
const items = (count: number, from = 0) => Array.from({ length: count }, (_, index) => item(from + index));

describe('a list with a duplicate id', () => {
  let signature = 0;
  const signed = (list: readonly object[]) => list.map((each) => ({ ...each, url: `https://x/?s=${++signature}` }));
  /** Ignores its parameter. */
  const twice =
    (list: () => readonly object[]): Body =>
    (url) => ({ tools: list(), nextPageToken: url.searchParams.has('pageToken') ? '' : 'more' });
  /** Signs a URL in each item anew. */
  const signedTwice = twice(() => signed(items(100)));
  const four = () => ({ tools: [...items(3), item(1, { other: true })] });
  const pagination = { kind: 'token', next: 'nextPageToken', tokenParam: 'pageToken', sizeParam: 'pageSize' };
  const allow = 'duplicateIds: allow';

  for (const [what, resource, body, reason, ...keys] of [
    ['on one page, with figures and the setting', {}, four, '4 items have 3', allow, 'fields.id'],
    [
      'across pages, even when the items differ otherwise',
      { pagination },
      ...([signedTwice, '200 items have 100', allow, 'pagination'] as const),
    ],
    [
      'when ids are equal as they are served',
      {},
      () => ({ tools: [1, '1'].map((id) => ({ id, name: 'A' })) }),
      ...(['2 items have 1', allow] as const),
    ],
    ['in a page mapped in steps', {}, () => ({ tools: [...items(3000), item(7)] }), '3001 items have 3000', allow],
  ] as const) {
    it(`is upstream_invalid ${what}`, () => expectRefused(resource, body, `${reason} distinct ids`, ...keys));
  }

  it('is served with a warning with duplicateIds: allow, on one page and across pages', async () => {
    const allowed = { duplicateIds: 'allow' };
    await expectServed(allowed, four, 4, 'duplicate_ids');
    const versions: Body = (url) => {
      const isSecond = url.searchParams.has('pageToken');
      const list = [items(3), [item(1), item(1), item(7)]][isSecond ? 1 : 0] ?? [];
      return { tools: signed(list), nextPageToken: isSecond ? '' : 'more' };
    };
    await expectServed({ pagination, ...allowed }, versions, 6, 'duplicate_ids');
    // One id fills both.
    await expectServed(
      { pagination, ...allowed },
      twice(() => signed([item(1), item(1)])),
      4,
      'duplicate_ids',
    );
  });

  it('is upstream_invalid with duplicateIds: allow when all ids of an earlier page return', async () => {
    const resource = { pagination, duplicateIds: 'allow' };
    await expectRefused(resource, signedTwice, 'a page repeats the ids of an earlier page');
  });

  it('is none when the last page of one item comes again beyond the end, also with where', async () => {
    const byPage = { kind: 'page', pageParam: 'page', firstPage: 1, sizeParam: 'size', size: 2 };
    const clamped: Body = (url) => {
      const from = 2 * (Math.min(Number(url.searchParams.get('page')), 3) - 1);
      return { tools: signed(items(Math.min(5 - from, 2), from)) };
    };
    await expectServed({ pagination: byPage, where: "id != 't4'" }, clamped, 4);
  });

  it('is upstream_invalid with duplicateIds: allow when identical items of an earlier page return', async () => {
    const resource = { pagination, duplicateIds: 'allow' };
    await expectRefused(
      resource,
      twice(() => items(10)),
      'a page repeats an item of an earlier page',
    );
  });
});

describe('a list that settings reduce to nothing', () => {
  const three = () => ({ tools: items(3) });
  const untitled = { invalidItems: 'drop', fields: { name: 'title' } };
  const allowEmpty = 'allowEmpty: true';

  it('is upstream_invalid when where excludes every item', async () => {
    const body = () => ({ tools: items(3).map((each) => ({ ...each, kind: 'y' })) });
    const where = "kind == tab || kind == 'x'";
    await expectRefused({ where }, body, 'where excludes all 3 items', 'where', allowEmpty);
  });

  it('is upstream_invalid when every item is dropped', async () => {
    const reason = 'all 3 items are invalid, the first because field name of item 0 is required and empty';
    await expectRefused(untitled, three, reason, 'fields', allowEmpty);
  });

  it('is upstream_invalid when some items are left out and the others dropped', async () => {
    const reason = 'where excludes 1 of 3 items, and the others are invalid';
    await expectRefused({ ...untitled, where: "id != 't0'" }, three, reason, 'where', 'fields', allowEmpty);
  });

  for (const [expression, body] of [
    ['tools[?installed]', { tools: items(3) }],
    ['data.tools.edges[].node', { data: { tools: { edges: items(3) } } }],
    ['tools.*.tool', { tools: { a: item(1), b: item(2), c: item(3) } }],
    ['tools[?installed] || others[?installed]', { tools: items(3), others: [] }],
  ] as const) {
    it(`is upstream_invalid when ${expression} selects no item`, async () => {
      const reason = 'items selects none of the 3';
      await expectRefused({ items: expression }, () => body, reason, 'items', allowEmpty);
    });
  }

  for (const [expression, body, where] of [
    ['errors', { errors: [], data: items(3) }, 'data'],
    ['archived', { archived: [], tools: items(3) }, 'tools'],
    ['data.hidden', { data: { hidden: [], items: items(3) } }, 'data.items'],
  ] as const) {
    it(`is upstream_invalid when ${expression} is empty and ${where} has items that fit`, async () => {
      const reason = `items selects an empty list, and ${where} has 3 items`;
      await expectRefused({ items: expression, errors: null }, () => body, reason, 'items', allowEmpty);
    });
  }

  it('is served as empty with a warning with allowEmpty', async () => {
    for (const resource of [{ where: 'installed' }, untitled, { items: 'tools[?installed]' }])
      await expectServed({ ...resource, allowEmpty: true }, three, 0, 'nothing_left');
  });

  it('is checked over all pages together', async () => {
    const body: Body = (url) => {
      const page = Number(url.searchParams.get('pageToken') ?? 0);
      return { tools: items(3, page * 3), nextPageToken: page < 2 ? String(page + 1) : '' };
    };
    const resource = { pagination: { kind: 'token', next: 'nextPageToken', tokenParam: 'pageToken' } };
    await expectServed({ ...resource, where: "id == 't7'" }, body, 1);
    await expectServed({ ...resource, items: "tools[?id == 't0']" }, body, 1);
    await expectRefused({ ...resource, where: 'installed' }, body, 'where excludes all 9 items', 'where');
    await expectRefused({ ...resource, items: 'tools[?installed]' }, body, 'items selects none of the 3', 'items');
  });

  for (const [what, resource, body] of [
    ['the platform has none', {}, { tools: [] }],
    ['there are no edges', { items: 'data.tools.edges[].node' }, { data: { tools: { edges: [], nodes: items(2) } } }],
    ['each group is empty', { items: 'groups[].tools[]' }, { groups: [{ tools: [] }, { tools: [] }] }],
    ['JSON:API includes others', { items: 'data', fields: { name: 'name' } }, { data: [], included: items(2) }],
    ['there are facets', {}, { tools: [], facets: items(2), aggregations: { kinds: { buckets: items(2) } } }],
    ['another kind stands beside', {}, { tools: [], folders: items(2), projects: items(2), data: items(2) }],
    ['what stands beside does not fit', { items: 'installed' }, { installed: [], data: [{ code: 1, message: 'x' }] }],
  ] as const) {
    it(`is served as empty when ${what}`, async () => {
      await expectServed(resource, () => body, 0);
    });
  }
});
