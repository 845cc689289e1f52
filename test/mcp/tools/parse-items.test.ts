import { expect } from 'chai';
import fc from 'fast-check';
import { parseItems } from '../../../src/mcp/tools/parse-items.ts';
import { createSnapshotWriter } from '../../../src/snapshots/snapshot-writer.ts';

function bytesOf(pages: readonly (readonly object[])[]): Buffer {
  const writer = createSnapshotWriter(0);
  for (const page of pages) writer.add(page);
  return writer.finish().bytes;
}

describe('the items of a snapshot', () => {
  it('are those that were written, few or many', async () => {
    for (const count of [0, 1, 2, 20_000]) {
      const items = Array.from({ length: count }, (_, index) => ({
        id: `tool-${index}`,
        name: ['},{', '},{"id":"', 'x'.repeat(index % 99)][index % 3],
      }));
      expect(await parseItems(bytesOf([items]))).to.deep.equal(items);
    }
  });

  it('are whole although their text looks like the end of one', async () => {
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
        expect(await parseItems(bytesOf(written))).to.deep.equal(written.flat());
      }),
      { numRuns: 200 },
    );
  });

  it('leave others their turn while a long list is parsed', async () => {
    const items = Array.from({ length: 20_000 }, (_, index) => ({ id: String(index), name: 'x'.repeat(100) }));
    const bytes = bytesOf([items]);
    let turns = 0;
    const timer = setInterval(() => {}, 1);
    const count = () => {
      turns += 1;
      if (!done) setImmediate(count);
    };
    let done = false;
    setImmediate(count);
    await parseItems(bytes);
    done = true;
    clearInterval(timer);
    expect(turns).to.be.greaterThan(bytes.length / 262_144 / 2);
  });
});
