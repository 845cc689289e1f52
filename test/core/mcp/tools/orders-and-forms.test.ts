import { isDeepStrictEqual } from 'node:util';
import { expect } from 'chai';
import fc from 'fast-check';
import type { Load } from '../../../../src/core/reads/snapshots/load.ts';
import { callerWith } from '../../../support/authorization/caller.ts';
import { atDepth } from '../../../support/depth.ts';
import { asked, cachedFor, loadOf } from '../asked.ts';

type Item = Readonly<Record<string, string>>;
// biome-ignore lint/suspicious/noExplicitAny: the shape depends on the test.
type Json = any;

const TOOL_FIELDS = ['id', 'name', 'version', 'category', 'description'];

const text = fc.oneof(
  fc.constantFrom(
    ...['', 'a', 'A', 'b', 'ä', '"', ',', '\n', '\t', '|', '\\', '","', '],["', '\u2028', '\u200b', '2', '10'],
  ),
  fc.string({ maxLength: 6 }),
);
const version = fc.tuple(fc.nat(12), fc.nat(12), fc.nat(3)).map((parts) => parts.join('.'));
const listOf = (id: fc.Arbitrary<string>) =>
  fc.uniqueArray(fc.record({ id, name: text, version, category: text, description: text }), {
    maxLength: 60,
    selector: (item) => item.id,
  });
const tools = listOf(fc.string({ minLength: 1, maxLength: 8 }));

/** Calls a tool of a server that reads such a list. */
function server(read: () => Load, caller = callerWith(), handler = asked({ read })) {
  return async (args: object, _meta: object = {}, tool = 'list_installed_tools'): Promise<Json> =>
    (await handler.earlier('tools/call', { name: tool, arguments: args, _meta }, { caller })).json.result;
}

/** All items of a list in this form, page by page. */
async function all(call: ReturnType<typeof server>, args: object): Promise<Item[]> {
  const items: Item[] = [];
  let cursor: string | undefined;
  for (let pages = 0; pages < 100; pages += 1) {
    const { structuredContent: page, content } = await call({ ...args, ...(cursor && { cursor }) });
    expect(JSON.parse(content[0].text)).to.deep.equal(page);
    items.push(...itemsOf(page));
    cursor = page.nextCursor;
    if (cursor === undefined) return items;
  }
  throw new Error('the pages have no end');
}

function itemsOf({ items, columns, rows }: Json): Item[] {
  if (items !== undefined) return items;
  return rows.map((row: string[]) => Object.fromEntries(columns.map((name: string, at: number) => [name, row[at]])));
}

const idsOf = (items: readonly Item[]) => items.map(({ id }) => id);

const shown = (value: string) => value.replaceAll(/[\u200b\u2028]/g, (one) => `\\u{${one.charCodeAt(0).toString(16)}}`);
const compareVersions = (a: string, b: string) => {
  const [left, right] = [a, b].map((one) => one.split('.').map(Number)) as [number[], number[]];
  return left.map((part, at) => part - (right[at] ?? 0)).find((difference) => difference !== 0) ?? 0;
};
const compareTexts = (a: string, b: string) => {
  const [left, right] = [a.toLowerCase(), b.toLowerCase()];
  return left === right ? 0 : left < right ? -1 : 1;
};

describe('a list in an order, in pages and as a table', () => {
  it('has the items of the plain list', async () => {
    const sort = fc.constantFrom(undefined, ...TOOL_FIELDS.flatMap((name) => [name, `-${name}`]));
    const fields = fc.option(fc.array(fc.constantFrom(...TOOL_FIELDS), { minLength: 1, maxLength: 5 }), {
      nil: undefined,
    });
    await fc.assert(
      fc.asyncProperty(
        tools,
        fc.record({ sort, fields, format: fc.constantFrom(undefined, 'items', 'table') }),
        fc.record({
          limit: fc.constantFrom(undefined, 1, 7),
          query: fc.constantFrom(undefined, 'a', '"', '1'),
          category: fc.constantFrom(undefined, 'A', ','),
        }),
        async (list, form, { limit, query = '', category }) => {
          const load = loadOf(list, cachedFor(1000));
          const found = list.filter(
            (item) =>
              Object.values(item).some((value) => value.toLowerCase().includes(query)) &&
              (category === undefined || item.category.toLowerCase() === category.toLowerCase()),
          );
          const { sort: by, fields: names = TOOL_FIELDS } = form;
          const field = (by ?? '').replace('-', '') as keyof (typeof list)[number];
          const compare = field === 'version' ? compareVersions : compareTexts;
          const direction = by?.startsWith('-') ? -1 : 1;
          const sorted = by === undefined ? found : found.toSorted((a, b) => direction * compare(a[field], b[field]));
          const expected = sorted.map((item) =>
            Object.fromEntries(
              TOOL_FIELDS.filter((name) => names.includes(name)).map((name) => [
                name,
                shown((item as Item)[name] ?? ''),
              ]),
            ),
          );
          const items = await all(
            server(() => load),
            { ...form, limit, query, category },
          );
          // Also in the order of their fields.
          expect(JSON.stringify(items)).to.equal(JSON.stringify(expected));
        },
      ),
      { numRuns: atDepth(30, 600) },
    );
  });

  it('stays in order over long lists, with equal keys in the order of the list', async () => {
    const list = Array.from({ length: 20_000 }, (_, index) => ({
      ...{ id: `tool-${index}`, name: `name ${(index * 7919) % 97}`, version: `1.${index % 300}.0` },
      ...{ category: 'A', description: 'x'.repeat(60) },
    }));
    const call = server(() => loadOf(list, cachedFor(1000)));
    for (const sort of ['name', '-version', '-category']) {
      const { items } = (await call({ sort, limit: 300, fields: 'id' })).structuredContent;
      const field = sort.replace('-', '') as 'name' | 'version' | 'category';
      const compare = field === 'version' ? compareVersions : compareTexts;
      const direction = sort.startsWith('-') ? -1 : 1;
      const expected = list.toSorted((a, b) => direction * compare(a[field], b[field])).slice(0, 300);
      expect(items).to.deep.equal(expected.map(({ id }) => ({ id })));
    }
  }).timeout(20_000);

  it('has a cursor for that order only', async () => {
    const list = Array.from({ length: 30 }, (_, index) => ({
      id: `${index}`,
      name: `${index}`,
      version: '1',
      category: '',
    }));
    const call = server(() => loadOf(list, cachedFor(1000)));
    const { nextCursor: cursor } = (await call({ sort: 'name', limit: 5 })).structuredContent;
    for (const sort of [undefined, '-name', 'id']) {
      expect((await call({ sort, limit: 5, cursor })).content[0].text).to.contain('Was not issued for these arguments');
    }
    expect((await call({ sort: 'name asc', limit: 5, cursor })).structuredContent.items[0].id).to.equal('13');
  });
});

describe('projects created after a time', () => {
  const PROJECTS = ['2024-01-01T00:00:00Z', '2024-06-01T10:00:00.5Z', '', '2025-01-01T00:00:00Z'].map(
    (createTime, at) => ({
      ...{ id: `${at}`, name: 'p', description: '', createTime },
    }),
  );
  const call = server(() => loadOf(PROJECTS));
  const ids = async (args: object) =>
    (await call(args, {}, 'list_projects')).structuredContent.items.map(({ id }: Item) => id).join('');

  it('are those whose time is later', async () => {
    expect(await ids({ created_after: '2024-01-01' })).to.equal('13');
    expect(await ids({ created_after: '2023-12-31' })).to.equal('013');
    expect(await ids({ created_after: '2024-06-01T12:00:00+02:00' })).to.equal('13');
    expect(await ids({ created_after: '2024-06-01T10:00:01Z', sort: '-createTime' })).to.equal('3');
    expect(await ids({ created_after: null })).to.equal('0123');
  });

  it('are not said to be none where no item states its time', async () => {
    const hint = async (projects: readonly Item[], args: object) =>
      (await server(() => loadOf(projects))(args, {}, 'list_projects')).structuredContent.hint;
    const created_after = '2026-01-01';
    expect(await hint(PROJECTS, { created_after })).to.equal('No item fits.');
    const undated = PROJECTS.map((project) => ({ ...project, createTime: '' }));
    expect(await hint(undated, { created_after })).to.equal('No item fits. createTime has no value in this list.');
  });

  it('need a time that says which', async () => {
    for (const created_after of ['yesterday', '2024-13-01', '2024-02-31', '2024-06-01T10:00:00', 5]) {
      const { content } = await call({ created_after }, {}, 'list_projects');
      expect(content[0].text).to.match(/^invalid_params: created_after: /);
    }
    const { _meta } = await call({ created_after: '2024-01-01' });
    expect(_meta['portico/ignoredArguments']).to.deep.equal(['created_after']);
  });
});

describe('a read of a list that the client has', () => {
  const load = loadOf([{ id: 'a', name: 'A', version: '1', category: '', description: '' }], cachedFor(1000));
  const { etag } = load.snapshot;

  it('answers in a few tokens that it is not modified, as text and as data', async () => {
    const { structuredContent, content } = await server(() => load)({ query: 'a' }, { 'portico/ifNoneMatch': etag });
    expect(structuredContent).to.deep.equal({ notModified: true });
    expect(content).to.deep.equal([{ type: 'text', text: '{"notModified":true}' }]);
  });

  it('has no contents as a resource', async () => {
    const params = { uri: 'platform://tools', _meta: { 'portico/ifNoneMatch': etag } };
    const { result } = (await asked({ read: () => load }).earlier('resources/read', params)).json;
    expect(result.contents).to.deep.equal([]);
    expect(result._meta).to.include({ 'portico/notModified': true });
  });

  it('returns the list for any other tag', async () => {
    for (const tag of ['W/"other"', '', 7, null]) {
      const result = await server(() => load)({}, { 'portico/ifNoneMatch': tag });
      expect(result.structuredContent.total).to.equal(1);
    }
  });
});

describe('the changes since a list', () => {
  const named = (ids: Iterable<string>, name = '') =>
    [...ids].map((id) => ({ id, name: `${id}${name}`, version: '1', category: '', description: '' }));

  it('are those between the plain lists, whatever else is asked for', async () => {
    const short = fc.string({ minLength: 1, maxLength: 1 });
    const list = listOf(short);
    const others = fc.record({
      sort: fc.constantFrom(undefined, '-name'),
      query: fc.constantFrom(undefined, 'a'),
      format: fc.constantFrom(undefined, 'table'),
      fields: fc.constantFrom(undefined, 'name'),
      limit: fc.constantFrom(undefined, 0, 3),
    });
    await fc.assert(
      fc.asyncProperty(list, list, others, async (before, after, args) => {
        let items: readonly Item[] = before;
        const call = server(() => loadOf(items, cachedFor(1)));
        const { etag } = (await call({ ...args, changed_since: 'none' })).structuredContent;
        items = after;
        const { changes, ...answer } = (await call({ ...args, changed_since: etag })).structuredContent;
        const inBoth = after.filter(({ id }) => before.some((one) => one.id === id));
        expect(changes).to.deep.equal({
          new: idsOf(after.filter((one) => !inBoth.includes(one))),
          changed: idsOf(inBoth.filter((one) => !before.some((other) => isDeepStrictEqual(one, other)))),
          gone: idsOf(before.filter(({ id }) => !after.some((one) => one.id === id))),
        });
        expect(itemsOf(answer)).to.deep.equal([]);
      }),
      { numRuns: atDepth(20, 400) },
    );
  });

  it('are unknown for another tag, and the first page of the whole list is returned, as with too many changes', async () => {
    let list = named(['a', 'b']);
    const call = server(() => loadOf(list, cachedFor(1)));
    const first = (await call({ changed_since: 'W/"none"' })).structuredContent;
    expect(first).to.include({ total: 2 }).and.not.have.property('changes');
    expect(first.hint).to.contain('the whole list');
    expect(first.items).to.have.length(2);
    list = named(Array.from({ length: 5000 }, (_, index) => `tool-${index}`));
    const many = (await call({ changed_since: first.etag })).structuredContent;
    expect(many).to.not.have.property('changes');
    expect(many.items).to.have.length(50);
    list = list.slice(1);
    const { changes, items } = (await call({ changed_since: many.etag })).structuredContent;
    expect(changes).to.deep.equal({ new: [], changed: [], gone: ['tool-0'] });
    expect(items).to.deep.equal([]);
  });

  it('are forgotten at the end of the token, for another tenant, and beyond four lists', async () => {
    let list = named(['a']);
    const read = () => loadOf(list, cachedFor(1));
    const handler = asked({ read });
    const known: boolean[] = [];
    for (const cacheScope of ['first', 'first', 'second']) {
      const ask = server(read, callerWith('token', { cacheScope }), handler);
      known.push('changes' in (await ask({ changed_since: read().snapshot.etag })).structuredContent);
    }
    expect(known).to.deep.equal([false, true, false]);
    const expiring = server(() => loadOf(list, cachedFor(1)), callerWith('expiring', { expiresAt: 1 }));
    const { etag } = (await expiring({ changed_since: 'x' })).structuredContent;
    expect((await expiring({ changed_since: etag })).structuredContent).to.not.have.property('changes');
    const call = server(() => loadOf(list, cachedFor(1)));
    const tags: string[] = [];
    for (let version = 0; version < 5; version += 1) {
      list = named(['a'], `${version}`);
      tags.push((await call({ changed_since: 'x' })).structuredContent.etag);
    }
    const [oldest = '', second = ''] = tags;
    expect((await call({ changed_since: oldest })).structuredContent).to.not.have.property('changes');
    expect((await call({ changed_since: second })).structuredContent.changes.changed).to.deep.equal(['a']);
  });

  it('are not offered of projects, which are never stored', async () => {
    const { _meta } = await server(() => loadOf([]))({ changed_since: 'x' }, {}, 'list_projects');
    expect(_meta['portico/ignoredArguments']).to.deep.equal(['changed_since']);
  });
});
