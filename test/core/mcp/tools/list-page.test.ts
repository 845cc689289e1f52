import { expect } from 'chai';
import fc from 'fast-check';
import { GatewayError } from '../../../../src/core/kernel/errors.ts';
import { writePage } from '../../../../src/core/mcp/tools/list-page.ts';
import { loadOf } from '../asked.ts';

const page = { offset: 0, limit: 50, cursorOf: (offset: number) => `"${offset}"`, maxBytes: 1_000_000 };

describe('a page of a list', () => {
  it('is cut out of the bytes of the snapshot, with or without a filter', () => {
    const text = fc.array(fc.constantFrom('},{', '"', '\\', '],[', 'ä', '\u2028', 'a'), { maxLength: 5 });
    const lists = fc.array(fc.record({ id: text.map((parts) => parts.join('')), name: fc.string() }), { maxLength: 8 });
    fc.assert(
      fc.property(
        lists,
        fc.nat(9),
        fc.integer({ min: 1, max: 9 }),
        fc.option(fc.nat(7)),
        (items, offset, limit, every) => {
          const found = every === null ? undefined : [...items.keys()].filter((index) => index % (every + 1) === 0);
          const left = found === undefined ? items : found.flatMap((index) => items[index] ?? []);
          const next = offset + limit;
          const hasMore = next < left.length;
          expect(writePage(loadOf(items).snapshot, { ...page, offset, limit, found })).to.equal(
            JSON.stringify({
              items: left.slice(offset, next),
              total: left.length,
              ...(hasMore && { nextCursor: `"${next}"` }),
            }),
          );
        },
      ),
    );
  });

  it('fits at its exact size, and not with one byte less', () => {
    const { snapshot } = loadOf([{ id: 'a' }, { id: 'ä' }]);
    const size = 512 + snapshot.bytes.length - 1;
    expect(JSON.parse(writePage(snapshot, { ...page, maxBytes: size })).items).to.have.length(2);
    expect(() => writePage(snapshot, { ...page, maxBytes: size - 1 }))
      .to.throw(GatewayError)
      .with.property('detail')
      .that.contains('Set limit to 1 or less');
  });
});
