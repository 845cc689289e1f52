import { expect } from 'chai';
import fc from 'fast-check';
import { GatewayError } from '../../../../src/core/kernel/errors.ts';
import { readCursor, writeCursor } from '../../../../src/core/mcp/tools/cursor.ts';

const PLACE = { etag: 'W/"abc"', filter: { query: 'a', values: {} } };

function codeOf(work: () => unknown): string | undefined {
  try {
    work();
  } catch (error) {
    return error instanceof GatewayError ? error.code : 'something else';
  }
  return undefined;
}

describe('a cursor', () => {
  it('decodes to the offset that it was made from', () => {
    fc.assert(
      fc.property(fc.nat(), (offset) => {
        const cursor = writeCursor(PLACE, offset);
        expect(cursor).to.match(/^[\w-]+$/);
        expect(readCursor(PLACE, cursor)).to.equal(offset);
      }),
    );
    expect(readCursor(PLACE, undefined)).to.equal(0);
  });

  it('is rejected when the list changed', () => {
    expect(codeOf(() => readCursor({ ...PLACE, etag: 'W/"abd"' }, writeCursor(PLACE, 50)))).to.equal('list_changed');
  });

  it('is rejected with another filter', () => {
    const other = { ...PLACE, filter: { query: 'b', values: {} } };
    expect(codeOf(() => readCursor(other, writeCursor(PLACE, 50)))).to.equal('invalid_params');
  });

  it('has no negative or fractional offset', () => {
    for (const offset of [-1, -50, 0.5, 2 ** 53]) {
      expect(codeOf(() => readCursor(PLACE, writeCursor(PLACE, offset)))).to.equal('invalid_params');
    }
  });

  it("is rejected when it is not one of Portico's", () => {
    const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
    for (const cursor of ['', 'a', encode(5), encode([]), encode([-1, 'a', 'b']), encode(['1']), encode([1e300])]) {
      expect(
        codeOf(() => readCursor(PLACE, cursor)),
        cursor,
      ).to.equal('invalid_params');
    }
    fc.assert(fc.property(fc.string(), (cursor) => codeOf(() => readCursor(PLACE, cursor)) === 'invalid_params'));
    expect(() => readCursor(PLACE, 'a'))
      .to.throw()
      .with.property('detail')
      .that.contains('Omit it to start.');
  });
});
