import { expect } from 'chai';
import fc from 'fast-check';
import { unpooled } from '../../src/snapshots/unpooled.ts';

describe('an unpooled buffer', () => {
  it('holds the bytes of its chunks in memory of its own', () => {
    fc.assert(
      fc.property(fc.array(fc.string()), (texts) => {
        const bytes = unpooled(texts.map((text) => Buffer.from(text)));
        expect(bytes.toString()).to.equal(Buffer.from(texts.join('')).toString());
        expect(bytes.buffer.byteLength).to.equal(bytes.length);
      }),
    );
  });
});
