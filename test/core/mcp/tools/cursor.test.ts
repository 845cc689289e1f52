import { expect } from 'chai';
import fc from 'fast-check';
import { GatewayError } from '../../../../src/core/kernel/errors.ts';
import { readCursor, writeCursor } from '../../../../src/core/mcp/tools/cursor.ts';
import { anyText } from '../../../support/any-text.ts';

const PLACE = { etag: 'W/"abc"', filter: { query: 'a', values: {} } };
const ISSUED = writeCursor(PLACE, 50);

/** The offset, or why there is none. */
function outcome(cursor: string, place = PLACE): string | number {
  try {
    return readCursor(place, cursor);
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    return error.code === 'invalid_params' ? error.detail : error.code;
  }
}

const NOT_ISSUED = 'cursor: was not issued here. Omit it to start.';
const OF_OTHERS = 'cursor: belongs to other arguments. Repeat those, or start again.';

describe('a cursor', () => {
  it('of 16 characters decodes to the offset that it was made from', () => {
    fc.assert(
      fc.property(fc.nat({ max: 2 ** 32 - 1 }), (offset) => {
        const cursor = writeCursor(PLACE, offset);
        expect(cursor).to.match(/^[\w-]{16}$/);
        expect(outcome(cursor)).to.equal(offset);
      }),
    );
  });

  it('distinguishes a changed list, other arguments and a made-up text', () => {
    const other = { query: 'b', values: {} };
    expect(outcome(ISSUED, { ...PLACE, etag: 'W/"abd"' })).to.equal('list_changed');
    expect(outcome(ISSUED, { ...PLACE, filter: other })).to.equal(OF_OTHERS);
    expect(outcome(ISSUED, { etag: 'W/"abd"', filter: other })).to.equal(OF_OTHERS);
    expect(outcome(ISSUED, { ...PLACE, filter: { query: 'A', values: {} } })).to.equal(50);
    const earlier = Buffer.from(JSON.stringify([50, 'W/"abc"', 'digest'])).toString('base64url');
    for (const cursor of ['', 'a', earlier, `${ISSUED}A`, `${ISSUED}=`, ISSUED.slice(1), 'A'.repeat(16)]) {
      expect(outcome(cursor), cursor).to.equal(NOT_ISSUED);
    }
  });

  it('is rejected if one bit is another, or if it is any text', () => {
    const bytes = Buffer.from(ISSUED, 'base64url');
    for (let bit = 0; bit < 8 * bytes.length; bit += 1) {
      const flipped = Buffer.from(bytes);
      flipped[bit >> 3] = (flipped[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      expect(outcome(flipped.toString('base64url')), `bit ${bit}`).to.equal(NOT_ISSUED);
    }
    const texts = fc.oneof(anyText(), fc.base64String({ maxLength: 24 }), fc.string({ minLength: 16, maxLength: 16 }));
    // One text in 65,536 has a valid check.
    fc.assert(fc.property(texts, (text) => [NOT_ISSUED, OF_OTHERS].includes(String(outcome(text)))));
  });
});
