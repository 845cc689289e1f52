import { setImmediate as turn } from 'node:timers/promises';
import { expect } from 'chai';
import fc from 'fast-check';
import type { Filter } from '../../../../src/core/mcp/tools/arguments.ts';
import { createSearch as create, stepsOf } from '../../../../src/core/mcp/tools/search.ts';
import type { Load } from '../../../../src/core/reads/snapshots/load.ts';
import { createSnapshotWriter } from '../../../../src/core/reads/snapshots/snapshot.ts';
import { toolItem } from '../../../support/platform/loads.ts';
import { cachedFor, loadOf } from '../asked.ts';

const STEP_BYTES = 262_144;
const ALL = { values: {} };

/** A search whose caller stays connected by default. */
function createSearch(maxParsedBytes: number) {
  const search = create(maxParsedBytes);
  return (load: Load, filter: Filter, signal = new AbortController().signal) => search(load, filter, signal);
}

function snapshotOf(pages: readonly (readonly object[])[]) {
  const writer = createSnapshotWriter(0);
  for (const page of pages) writer.add(page);
  return writer.finish();
}

const itemsOf = (pages: readonly (readonly object[])[]) => [...stepsOf(snapshotOf(pages))].flat();

/** Turns of the event loop during `work`. */
async function turnsDuring(work: Promise<unknown>): Promise<number> {
  let turns = 0;
  let isDone = false;
  const done = work.then(() => {
    isDone = true;
  });
  while (!isDone) {
    await turn();
    turns += 1;
  }
  await done;
  return turns;
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
  it('are those that were written', () => {
    for (const count of [0, 1, 2, 20_000]) {
      const items = Array.from({ length: count }, (_, index) => ({
        id: `tool-${index}`,
        name: ['},{', '},{"id":"', 'x'.repeat(index % 99)][index % 3],
      }));
      expect(itemsOf([items])).to.deep.equal(items);
    }
  });

  it('are complete, for any text and length', () => {
    const nasty = fc.constantFrom(
      '"},{"',
      '\\"},{\\"',
      '},{',
      '"}',
      '[{"',
      '\\',
      '"',
      '}',
      'a'.repeat(70_000),
      '\u2028ä',
    );
    const text = fc.array(nasty, { maxLength: 6 }).map((parts) => parts.join(''));
    const item = fc.record({ id: text, name: text });
    const pages = fc.array(fc.array(item, { maxLength: 5 }), { maxLength: 3 });
    fc.assert(
      fc.property(pages, (written) => {
        expect(itemsOf(written)).to.deep.equal(written.flat());
      }),
      { numRuns: 200 },
    );
  });
});

describe('a search', () => {
  const list = (mebibytes: number, rest = cachedFor(1)) =>
    loadOf(
      Array.from({ length: mebibytes * 16 }, (_, index) => ({ id: String(index), name: 'x'.repeat(65_000) })),
      rest,
    );

  it('yields to other requests, with or without a parsed list', async () => {
    const load = list(4);
    const atLeast = load.snapshot.bytes.length / STEP_BYTES / 2;
    for (const maxParsedBytes of [1024, 8_388_608]) {
      const search = createSearch(maxParsedBytes);
      for (const _ of [1, 2]) expect(await turnsDuring(search(load, ALL))).to.be.greaterThan(atLeast);
    }
  });

  it('takes a number of turns that depends on the bytes of the list', async () => {
    const items = Array.from({ length: 100_000 }, (_, index) => toolItem(`tool-${index}`, { category: `C${index}` }));
    const load = loadOf(items, cachedFor(1));
    const atLeast = load.snapshot.bytes.length / STEP_BYTES;
    for (const maxParsedBytes of [1024, 67_108_864]) {
      const search = createSearch(maxParsedBytes);
      for (const category of ['c99999', 'nothing', 'nothing']) {
        let found: Awaited<ReturnType<typeof search>> | undefined;
        const searching = search(load, { values: { category } }).then((result) => {
          found = result;
        });
        expect(await turnsDuring(searching)).to.be.at.least(atLeast);
        expect(found?.indices).to.deep.equal(category === 'nothing' ? [] : [99_999]);
      }
    }
  });

  it('finds the same with and without a parsed list', async () => {
    const items = Array.from({ length: 9000 }, (_, index) => ({
      id: String(index),
      name: `${index % 7} ${'x'.repeat(99)}`,
    }));
    const load = loadOf(items, cachedFor(1));
    const expected = items.flatMap(({ name }, index) => (name.startsWith('3') ? [index] : []));
    for (const maxParsedBytes of [1024, 8_388_608]) {
      const search = createSearch(maxParsedBytes);
      for (const _ of [1, 2]) {
        expect((await search(load, { query: '3 X', values: {} })).indices).to.deep.equal(expected);
      }
    }
  });

  it('parses a list once for a hundred concurrent searches', async () => {
    const search = createSearch(8_388_608);
    const load = list(5);
    const { length } = load.snapshot.bytes;
    const all = Array.from({ length: 100 }, (_, index) => ({ query: `${index}`, values: {} }));
    expect(await parsedDuring(() => Promise.all(all.map((filter) => search(load, filter))))).to.be.below(length * 1.01);
    expect(await parsedDuring(() => search(load, ALL))).to.equal(0);
  });

  it('keeps the lists searched last, up to a size', async () => {
    const search = createSearch(4_300_000);
    const [a, b, c, large] = [list(1), list(2), list(2), list(5)];
    const isParsed = async (load: typeof a) => (await parsedDuring(() => search(load, ALL))) > 0;
    for (const load of [a, b, large]) expect(await isParsed(load)).to.equal(true);
    expect(await isParsed(large)).to.equal(true);
    expect(await isParsed(a)).to.equal(false);
    expect(await isParsed(c)).to.equal(true);
    expect(await isParsed(a)).to.equal(false);
    expect(await isParsed(b)).to.equal(true);
  });

  it('ends where the caller hangs up', async () => {
    for (const maxParsedBytes of [1024, 8_388_608]) {
      const search = createSearch(maxParsedBytes);
      const load = list(4);
      await search(load, ALL);
      const controller = new AbortController();
      const parsed = parsedDuring(async () => {
        const caught = search(load, ALL, controller.signal).catch((error: unknown) => error);
        await turn();
        controller.abort();
        expect(await caught).to.have.property('name', 'AbortError');
      });
      expect(await parsed).to.be.below(load.snapshot.bytes.length / 2);
    }
  });

  it('keeps nothing of a list that is not stored', async () => {
    const search = createSearch(8_388_608);
    const load = list(1, {});
    for (const _ of [1, 2]) expect(await parsedDuring(() => search(load, ALL))).to.be.above(0);
  });

  it('keeps as many parsed lists as fit', async () => {
    const search = createSearch(2_200_000);
    const [a, b, c] = [list(1), list(1), list(1)];
    await Promise.all([a, b, c].map((load) => search(load, ALL)));
    // The third was searched step by step, and the two others are kept.
    for (const load of [a, b]) expect(await parsedDuring(() => search(load, ALL))).to.equal(0);
    expect(await parsedDuring(() => search(c, ALL))).to.be.above(0);
    expect(await parsedDuring(() => search(c, ALL))).to.equal(0);
  });
});

describe('a filter', () => {
  const ITEMS = [
    { id: '1', name: 'Nmap', description: 'Finds open ports.', category: 'NETWORK' },
    { id: '2', name: 'Semgrep', description: 'Reads SOURCE code.', category: 'CODE' },
    { id: '3', name: 'Straße', description: '', category: 'CODE' },
  ];
  const search = createSearch(1024);
  const ids = async (filter: Parameters<typeof search>[1]) =>
    (await search(loadOf(ITEMS), filter)).indices.map((index) => ITEMS[index]?.id);

  it('without conditions matches every item', async () => {
    expect(await ids({ values: {} })).to.deep.equal(['1', '2', '3']);
    expect(await ids({ query: '', values: {} })).to.deep.equal(['1', '2', '3']);
  });

  it('searches every field, in any case', async () => {
    expect(await ids({ query: 'SEM', values: {} })).to.deep.equal(['2']);
    expect(await ids({ query: 'source', values: {} })).to.deep.equal(['2']);
    expect(await ids({ query: 'straSSe', values: {} })).to.deep.equal([]);
    expect(await ids({ query: 'STRAß', values: {} })).to.deep.equal(['3']);
    expect(await ids({ query: 'network', values: {} })).to.deep.equal(['1']);
    expect(await ids({ query: '3', values: {} })).to.deep.equal(['3']);
    expect(await ids({ query: 'categor', values: {} })).to.deep.equal([]);
  });

  it('compares whole fields, in any case', async () => {
    expect(await ids({ values: { category: 'CODE' } })).to.deep.equal(['2', '3']);
    expect(await ids({ values: { category: 'code' } })).to.deep.equal(['2', '3']);
    expect(await ids({ values: { category: 'COD' } })).to.deep.equal([]);
    expect(await ids({ values: { category: 'CODE', id: '3' } })).to.deep.equal(['3']);
    expect(await ids({ query: 'e', values: { category: 'Network' } })).to.deep.equal(['1']);
    expect(await ids({ values: { description: '' } })).to.deep.equal(['3']);
    expect(await ids({ values: { nothing: '' } })).to.deep.equal([]);
  });

  it('that matches nothing collects the values of its fields', async () => {
    const { indices, seen } = await search(loadOf(ITEMS), { query: 'nothing', values: { category: 'x' } });
    expect(indices).to.deep.equal([]);
    expect([...seen.keys()]).to.deep.equal(['category']);
    expect(seen.get('category')).to.include({ hasMore: false });
    expect(seen.get('category')?.values).to.deep.equal(['NETWORK', 'CODE']);
  });
});
