import { setImmediate as turn } from 'node:timers/promises';
import { expect } from 'chai';
import fc from 'fast-check';
import type { Filter } from '../../../../src/core/mcp/tools/arguments.ts';
import { createSearch as create, stepsOf } from '../../../../src/core/mcp/tools/search.ts';
import type { Load } from '../../../../src/core/reads/snapshots/load.ts';
import { createSnapshotWriter } from '../../../../src/core/reads/snapshots/snapshot.ts';
import { turnsDuring } from '../../../support/a-while.ts';
import { toolItem } from '../../../support/platform/loads.ts';
import { cachedFor, loadOf } from '../asked.ts';

const STEP_BYTES = 262_144;
const ALL = { values: {} };

/** A search whose caller stays connected by default. */
function createSearch(maxParsedBytes: number) {
  const search = create(maxParsedBytes);
  return (load: Load, filter: Filter, signal = new AbortController().signal) => search(load, filter, signal);
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
  it('are complete, for any text and length', () => {
    const nasty = ['"},{"', '\\"},{\\"', '},{', '"}', '[{"', '\\', '"', '}', 'a'.repeat(70_000), '\u2028ä'];
    const text = fc.array(fc.constantFrom(...nasty), { maxLength: 6 }).map((parts) => parts.join(''));
    const item = fc.record({ id: text, name: text });
    const pages = fc.array(fc.array(item, { maxLength: 5 }), { maxLength: 3 });
    fc.assert(
      fc.property(pages, (written) => {
        const writer = createSnapshotWriter(0);
        for (const page of written) writer.add(page);
        expect([...stepsOf(writer.finish())].flat()).to.deep.equal(written.flat());
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

  it('yields to other requests as often as the bytes of the list require, with or without a parsed list', async () => {
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
});

describe('a filter', () => {
  const ITEMS = [
    { id: '1', name: 'Nmap', description: 'Finds open ports.', category: 'NETWORK' },
    { id: '2', name: 'Semgrep', description: 'Reads SOURCE code.', category: 'CODE' },
    { id: '3', name: 'Straße', description: '', category: 'CODE' },
  ];
  const load = loadOf(ITEMS, cachedFor(1));

  const FOUND: Readonly<Record<string, readonly (readonly [filter: Partial<Filter>, ids: string])[]>> = {
    'without conditions matches every item': [
      [{}, '123'],
      [{ query: '' }, '123'],
    ],
    'searches every field, in any case': [
      [{ query: 'SEM' }, '2'],
      [{ query: 'source' }, '2'],
      [{ query: 'straSSe' }, ''],
      [{ query: 'STRAß' }, '3'],
      [{ query: 'network' }, '1'],
      [{ query: '3' }, '3'],
      [{ query: 'categor' }, ''],
    ],
    'compares whole fields, in any case': [
      [{ values: { category: 'CODE' } }, '23'],
      [{ values: { category: 'code' } }, '23'],
      [{ values: { category: 'COD' } }, ''],
      [{ values: { category: 'CODE', id: '3' } }, '3'],
      [{ query: 'e', values: { category: 'Network' } }, '1'],
      [{ values: { description: '' } }, '3'],
      [{ values: { nothing: '' } }, ''],
    ],
  };
  for (const [what, found] of Object.entries(FOUND)) {
    it(`${what}, with and without a parsed list`, async () => {
      for (const maxParsedBytes of [8, 1024]) {
        const search = createSearch(maxParsedBytes);
        for (const [filter, ids] of found) {
          const { indices } = await search(load, { ...ALL, ...filter });
          expect(indices.map((index) => ITEMS[index]?.id).join('')).to.equal(ids);
        }
      }
    });
  }

  it('that matches nothing collects the values of its fields', async () => {
    const { indices, seen } = await createSearch(8)(load, { query: 'nothing', values: { category: 'x' } });
    expect(indices).to.deep.equal([]);
    expect([...seen.keys()]).to.deep.equal(['category']);
    expect(seen.get('category')).to.deep.include({ hasMore: false, values: ['NETWORK', 'CODE'] });
  });
});
