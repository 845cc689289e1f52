import { expect } from 'chai';
import fc from 'fast-check';
import { GatewayError } from '../../../../src/core/kernel/errors.ts';
import { readCursor, writeCursor } from '../../../../src/core/mcp/tools/cursor.ts';
import { createPageWriter, type ListBytes, type ListPage } from '../../../../src/core/mcp/tools/list-page.ts';
import { anyText } from '../../../support/any-text.ts';
import { loadOf } from '../asked.ts';

const page = { offset: 0, limit: 50, cursorOf: (offset: number) => `"${offset}"`, members: '' };
const writePage = createPageWriter(1_000_000);

const write = (list: ListBytes, of: ListPage) => writePage(list, of, new AbortController().signal);

/** A list of items of these sizes. */
const ofSizes = (sizes: readonly number[]) => loadOf(sizes.map((size) => ({ id: 'ä'.repeat(size / 2) }))).snapshot;

describe('a page of a list', () => {
  it('is cut out of the bytes of the snapshot, with or without a filter, and as text with an item a line where it is long', async () => {
    const text = fc.array(fc.constantFrom('},{', '"', '\\', '],[', 'ä', '\u2028', 'a', '\n'), { maxLength: 5 });
    const name = fc.oneof(fc.string(), fc.constant('x'.repeat(8000)));
    const lists = fc.array(fc.record({ id: text.map((parts) => parts.join('')), name }), { maxLength: 8 });
    await fc.assert(
      fc.asyncProperty(lists, fc.nat(9), fc.nat(9), fc.option(fc.nat(7)), async (items, offset, limit, every) => {
        const found = every === null ? undefined : [...items.keys()].filter((index) => index % (every + 1) === 0);
        const left = found === undefined ? items : found.flatMap((index) => items[index] ?? []);
        const shown = left.slice(offset, offset + limit);
        const hasMore = limit > 0 && offset + limit < left.length;
        const more = hasMore && { nextCursor: `"${offset + limit}"` };
        const expected = { total: left.length, ...more, stale: 'a', items: shown };
        const written = await write(loadOf(items).snapshot, { ...page, members: ',"stale":"a"', offset, limit, found });
        expect(written.data).to.equal(JSON.stringify(expected));
        const json = shown.map((item) => JSON.stringify(item));
        const inLines = written.data.replace(`[${json.join(',')}]}`, () => `[\n${json.join(',\n')}\n]}`);
        expect(written.text).to.equal(Buffer.byteLength(written.data) > 7000 ? inLines : written.data);
      }),
    );
  });

  it('without a limit ends after 50 items or 7000 bytes of text, and has every item once', async () => {
    const sizes = fc.array(fc.oneof(fc.nat(200), fc.nat(9000)), { maxLength: 160 });
    await fc.assert(
      fc.asyncProperty(sizes, async (all) => {
        const list = ofSizes(all);
        let offset = 0;
        do {
          const { text } = await write(list, { ...page, limit: undefined, offset });
          const { items, nextCursor } = JSON.parse(text);
          expect(items.length).to.be.within(Math.min(1, list.count), 50);
          if (items.length > 1) expect(Buffer.byteLength(text)).to.be.at.most(7000);
          offset += items.length;
          expect(nextCursor).to.equal(offset < list.count ? `"${offset}"` : undefined);
        } while (offset < list.count);
      }),
      { numRuns: 50 },
    );
  });
});

const PLACE = { etag: 'W/"abc"', filter: { query: 'a', values: {} } };

/** The offset, or the code of the error. */
function outcome(cursor: string, place = PLACE): string | number {
  try {
    return readCursor(place, cursor);
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    return error.code;
  }
}

describe('a cursor', () => {
  it('of at most 16 characters decodes to the offset that it was made from', () => {
    fc.assert(
      fc.property(fc.nat({ max: 2 ** 31 - 1 }), (offset) => {
        const cursor = writeCursor(PLACE, offset);
        expect(cursor.length).to.be.at.most(16);
        expect(outcome(cursor)).to.equal(offset);
      }),
    );
  });

  it('belongs to its filter in any case, and to its list', () => {
    const issued = writeCursor(PLACE, 50);
    expect(outcome(issued, { ...PLACE, filter: { query: 'A', values: {} } })).to.equal(50);
    expect(outcome(issued, { ...PLACE, filter: { query: 'b', values: {} } })).to.equal('invalid_params');
    expect(outcome(issued, { ...PLACE, etag: 'W/"def"' })).to.equal('list_changed');
  });

  it('is rejected if it is any text', () => {
    const texts = fc.oneof(anyText(), fc.stringMatching(/^[0-9a-z]{1,7}\.[\w-]{8}$/));
    fc.assert(fc.property(texts, (text) => outcome(text) === 'invalid_params'));
  });
});
