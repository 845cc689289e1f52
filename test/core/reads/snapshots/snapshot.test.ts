import { expect } from 'chai';
import fc from 'fast-check';
import { encodeItems, joinPages } from '../../../../src/core/reads/snapshots/snapshot.ts';

/** Texts that contain what stands between two items. */
const text = fc.oneof(fc.string(), fc.constantFrom('},{', '"},{"id":"', '},{\\"id":', 'ä},{"id":'));
const items = fc.oneof(
  fc.array(fc.record({ id: text, name: text })),
  fc.array(fc.record({ id: text, description: text }, { requiredKeys: ['id'] })),
);

const write = (pages: readonly (readonly object[])[]) => joinPages(pages.map(encodeItems), 1_000);

describe('a snapshot', () => {
  it('has the JSON of all items, however they were spread over pages, with the byte offset of each', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(items), async (pages) => {
        const { bytes, count, itemStarts } = await write(pages);
        const all = pages.flat();
        expect(bytes.toString()).to.equal(JSON.stringify(all));
        expect(count).to.equal(all.length);
        expect(bytes.buffer.byteLength).to.equal(bytes.length);
        const ends = [...itemStarts.slice(1), bytes.length].map((start) => start - 1);
        const cut = [...itemStarts].map((start, index) => bytes.subarray(start, ends[index]).toString());
        expect(cut).to.deep.equal(all.map((item) => JSON.stringify(item)));
      }),
      { examples: [[[]]] },
    );
  });
});
