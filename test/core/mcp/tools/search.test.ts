import { expect } from 'chai';
import fc from 'fast-check';
import type { Filter } from '../../../../src/core/mcp/tools/arguments.ts';
import { createSearches, type SearchBounds } from '../../../../src/core/mcp/tools/search.ts';
import type { Load } from '../../../../src/core/reads/snapshots/load.ts';
import { arraysOf, encodeItems, joinPages } from '../../../../src/core/reads/snapshots/snapshot.ts';
import { callerWith } from '../../../support/authorization/caller.ts';
import { atDepth } from '../../../support/depth.ts';
import { toolItem } from '../../../support/platform/loads.ts';
import { loadOf } from '../asked.ts';

const BOUNDS = { maxSearches: 2, maxWaitingSearches: 40, maxWaitingSearchesPerCaller: 10 };

/** A search whose caller stays connected by default. */
function createSearch(bounds: Partial<SearchBounds> = {}) {
  const search = createSearches({ ...BOUNDS, ...bounds });
  return (
    { snapshot }: Load,
    { filter = {}, countBy = [], caller = callerWith(), signal = new AbortController().signal }: Asked = {},
  ) =>
    search(
      snapshot,
      { filter: { values: {}, ...filter }, countBy, order: undefined, hasDigest: false },
      caller,
      signal,
    );
}

interface Asked {
  readonly filter?: Partial<Filter>;
  readonly countBy?: readonly string[];
  readonly caller?: ReturnType<typeof callerWith>;
  readonly signal?: AbortSignal;
}

/** Characters that are parsed as JSON during `work`. */
async function parsedDuring(work: () => Promise<unknown>): Promise<number> {
  const { parse } = JSON;
  let length = 0;
  JSON.parse = (text, reviver) => {
    length += text.length;
    return parse(text, reviver);
  };
  try {
    await work();
  } finally {
    JSON.parse = parse;
  }
  return length;
}

describe('the items of a snapshot', () => {
  it('are complete, for any text and length', async () => {
    const nasty = ['"},{"', '\\"},{\\"', '},{', '"}', '[{"', '\\', '"', '}', 'a'.repeat(70_000), '\u2028ä'];
    const text = fc.array(fc.constantFrom(...nasty), { maxLength: 6 }).map((parts) => parts.join(''));
    const item = fc.record({ id: text, name: text });
    const pages = fc.array(fc.array(item, { maxLength: 5 }), { maxLength: 3 });
    await fc.assert(
      fc.asyncProperty(pages, async (written) => {
        const snapshot = await joinPages(written.map(encodeItems), 0);
        expect([...arraysOf(snapshot)].flatMap((array) => JSON.parse(array))).to.deep.equal(written.flat());
      }),
      { numRuns: atDepth(30, 600) },
    );
  });
});

const SHORT = loadOf([toolItem('a')]);

describe('a search', () => {
  const list = (mebibytes: number) =>
    loadOf(Array.from({ length: mebibytes * 16 }, (_, index) => ({ id: String(index), name: 'x'.repeat(65_000) })));

  it('is made once for all that are the same at a time, whoever sends them and in any case', async () => {
    const search = createSearch();
    const load = list(1);
    const callers = ['a', 'b', 'c'].map((token) => callerWith(token));
    const all = Array.from({ length: 300 }, (_, index) => ({
      ...{ filter: { query: index % 2 === 0 ? 'X' : 'x' }, countBy: ['id'] },
      ...{ caller: callers[index % 3] ?? callerWith() },
    }));
    const parsed = await parsedDuring(() => Promise.all(all.map((asked) => search(load, asked))));
    expect(parsed).to.be.within(load.snapshot.bytes.length * 0.99, load.snapshot.bytes.length * 1.01);
  });

  it('differs by filter and by what is counted', async () => {
    const search = createSearch();
    const load = loadOf([toolItem('a'), toolItem('b', { category: 'x' })]);
    const [byName, byCategory, ofX] = await Promise.all([
      search(load, { countBy: ['name'] }),
      search(load, { countBy: ['category'] }),
      search(load, { countBy: ['category'], filter: { values: { category: 'X' } } }),
    ]);
    const asIs = (_field: string, value: string) => value;
    expect(Object.keys(byName.counts(asIs))).to.deep.equal(['name']);
    expect(byCategory.counts(asIs)['category']).to.have.length(2);
    expect(ofX.counts(asIs)['category']).to.deep.equal([{ value: 'x', count: 1 }]);
  });

  it('is one at a time for each caller, and a few in all; callers take turns', async () => {
    const search = createSearch({ maxSearches: 2, maxWaitingSearchesPerCaller: 20 });
    const ended: string[] = [];
    const start = (token: string, load: Load, count: number) =>
      Array.from({ length: count }, async (_, index) => {
        await search(load, { caller: callerWith(token), filter: { query: `${index}` } });
        ended.push(token);
      });
    await Promise.all([...start('many', list(1), 9), ...start('few', list(1), 1), ...start('one', list(1), 1)]);
    expect(ended.slice(0, 4)).to.include.members(['few', 'one']);
  });

  it('waits for few searches of another address, however many callers that has', async () => {
    const search = createSearch();
    const ended: string[] = [];
    const start = async (token: string, address: string) => {
      await search(list(1), { caller: { ...callerWith(token), address }, filter: { query: token } });
      ended.push(token);
    };
    const many = Array.from({ length: 20 }, (_, index) => start(`of-many-${index}`, '192.0.2.1'));
    await Promise.all([...many, start('alone', '192.0.2.2')]);
    expect(ended.indexOf('alone')).to.be.at.most(4);
  });

  it('waits in a bounded queue, and is overloaded beyond it', async () => {
    const outcomes = async (bounds: Partial<SearchBounds>, tokens: readonly string[], address?: string) => {
      const search = createSearch(bounds);
      const all = tokens.map((token, index) =>
        search(SHORT, { caller: { ...callerWith(token), address }, filter: { query: `${index}` } }),
      );
      const settled = await Promise.allSettled(all);
      for (const one of settled) if (one.status === 'rejected') expect(one.reason).to.include({ code: 'overloaded' });
      return settled.filter(({ status }) => status === 'fulfilled').length;
    };
    expect(await outcomes({}, Array(15).fill('one'))).to.equal(10);
    const tokens = Array.from({ length: 50 }, (_, index) => `token-${index}`);
    expect(await outcomes({}, tokens)).to.equal(40);
    expect(await outcomes({}, tokens, '192.0.2.1')).to.equal(20);
    // What has ended takes no room.
    const search = createSearch({ maxWaitingSearches: 1 });
    for (const query of ['a', 'b', 'c']) await search(SHORT, { filter: { query } });
  });
});
