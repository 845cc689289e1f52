import { setImmediate as turn } from 'node:timers/promises';
import { expect } from 'chai';
import fc from 'fast-check';
import { createItemParser, findItems, type ParsedItems, parseItems } from '../../../src/mcp/tools/items.ts';
import { createSnapshotWriter } from '../../../src/snapshots/snapshot.ts';
import { cachedFor, loadOf } from '../asked.ts';

const STEP_BYTES = 262_144;

function snapshotOf(pages: readonly (readonly object[])[]) {
  const writer = createSnapshotWriter(0);
  for (const page of pages) writer.add(page);
  return writer.finish();
}

/** Turns of the event loop that others have while `work` goes on. */
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

describe('the items of a snapshot', () => {
  it('are those that were written, few or many', async () => {
    for (const count of [0, 1, 2, 20_000]) {
      const items = Array.from({ length: count }, (_, index) => ({
        id: `tool-${index}`,
        name: ['},{', '},{"id":"', 'x'.repeat(index % 99)][index % 3],
      }));
      expect(await parseItems(snapshotOf([items]))).to.deep.equal(items);
    }
  });

  it('are whole, whatever their text looks like and however long they are', async () => {
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
    await fc.assert(
      fc.asyncProperty(pages, async (written) => {
        expect(await parseItems(snapshotOf(written))).to.deep.equal(written.flat());
      }),
      { numRuns: 200 },
    );
  });

  it('leave others their turn while a long list is parsed, and while it is searched', async () => {
    const items = Array.from({ length: 20_000 }, (_, index) => ({ id: String(index), name: 'x'.repeat(100) }));
    const snapshot = snapshotOf([items]);
    expect(await turnsDuring(parseItems(snapshot))).to.be.greaterThan(snapshot.bytes.length / STEP_BYTES / 2);
    expect(await turnsDuring(findItems(items, { query: 'y', exact: {} }))).to.be.greaterThan(4);
  });
});

describe('parsed items', () => {
  /** A memory without bounds that tells what it holds. */
  function memory() {
    const held = new Map<Buffer, Promise<readonly Readonly<Record<string, string>>[]>>();
    const parsed: ParsedItems = { get: (bytes) => held.get(bytes), set: (bytes, items) => held.set(bytes, items) };
    return { held, parse: createItemParser(parsed) };
  }

  it('are parsed once, also for several who ask at a time', async () => {
    const { parse } = memory();
    const load = loadOf([{ id: 'a' }], cachedFor(1));
    const [first, second] = await Promise.all([parse(load), parse(load)]);
    expect(first)
      .to.equal(second)
      .and.to.deep.equal([{ id: 'a' }]);
    expect(await parse(load)).to.equal(first);
    expect(await parse(loadOf([{ id: 'a' }], cachedFor(1)))).not.to.equal(first);
  });

  it('of a list that is not stored are not kept', async () => {
    const { held, parse } = memory();
    expect(await parse(loadOf([{ id: 'a' }]))).to.deep.equal([{ id: 'a' }]);
    expect(held.size).to.equal(0);
  });

  it('are kept up to a size, those that were asked for last', async () => {
    const parse = createItemParser();
    const load = (mebibytes: number) => loadOf([{ id: 'a', name: 'x'.repeat(mebibytes * 1_048_576) }], cachedFor(1));
    const [a, b, c, large] = [load(1), load(2), load(2), load(5)];
    const first = { a: await parse(a), b: await parse(b), large: await parse(large) };
    expect(await parse(large)).not.to.equal(first.large);
    expect(await parse(a)).to.equal(first.a);
    await parse(c);
    expect(await parse(a)).to.equal(first.a);
    expect(await parse(b)).not.to.equal(first.b);
  });
});

describe('a filter', () => {
  const ITEMS = [
    { id: '1', name: 'Nmap', description: 'Finds open ports.', category: 'NETWORK' },
    { id: '2', name: 'Semgrep', description: 'Reads SOURCE code.', category: 'CODE' },
    { id: '3', name: 'Straße', description: '', category: 'CODE' },
  ];
  const ids = async (filter: Parameters<typeof findItems>[1]) =>
    (await findItems(ITEMS, filter)).map((index) => ITEMS[index]?.id);

  it('that wants nothing leaves all', async () => {
    expect(await ids({ exact: {} })).to.deep.equal(['1', '2', '3']);
    expect(await ids({ query: '', exact: {} })).to.deep.equal(['1', '2', '3']);
  });

  it('looks into names and descriptions, in any case', async () => {
    expect(await ids({ query: 'SEM', exact: {} })).to.deep.equal(['2']);
    expect(await ids({ query: 'source', exact: {} })).to.deep.equal(['2']);
    expect(await ids({ query: 'straSSe', exact: {} })).to.deep.equal([]);
    expect(await ids({ query: 'STRAß', exact: {} })).to.deep.equal(['3']);
    expect(await ids({ query: 'network', exact: {} })).to.deep.equal([]);
  });

  it('wants fields to be exactly so', async () => {
    expect(await ids({ exact: { category: 'CODE' } })).to.deep.equal(['2', '3']);
    expect(await ids({ exact: { category: 'code' } })).to.deep.equal([]);
    expect(await ids({ exact: { category: 'CODE', id: '3' } })).to.deep.equal(['3']);
    expect(await ids({ query: 'e', exact: { category: 'NETWORK' } })).to.deep.equal(['1']);
    expect(await ids({ exact: { description: '' } })).to.deep.equal(['3']);
  });
});
