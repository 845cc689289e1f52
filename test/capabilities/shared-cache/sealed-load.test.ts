import { expect } from 'chai';
import fc from 'fast-check';
import { seal, unseal } from '../../../src/capabilities/shared-cache/sealed-load.ts';
import { anyText } from '../../support/any-text.ts';
import { loadOf, manyTools, toolItem } from '../../support/platform/loads.ts';
import { SEEDED } from '../../support/seed.ts';

const KEY = Buffer.alloc(32, 7);
const NAME = 'name-of-the-caller';
const READING = 'reading';
const LOADED_AT = 1_800_000_000_000;

const sealed = (load = loadOf([toolItem('a')], { loadedAt: LOADED_AT })) => seal(load, READING, KEY, NAME);
const opened = (bytes: Buffer, { key = KEY, name = NAME, reading = READING, maxBytes = 1_000_000 } = {}) =>
  unseal(bytes, reading, key, name, maxBytes);

const items = fc.array(fc.record({ id: fc.string(), description: anyText() }), { maxLength: 30 });
const facts = fc.record(
  { pages: fc.nat(), dropped: fc.nat(), upstreamEtag: fc.string() },
  { requiredKeys: ['pages', 'dropped'] },
);

describe('a sealed load', () => {
  it(`returns the whole load, whatever the list ${SEEDED}`, async () => {
    await fc.assert(
      fc.asyncProperty(items, facts, async (list, rest) => {
        const load = loadOf(list, { loadedAt: LOADED_AT, ...rest });
        expect(await opened(await sealed(load))).to.deep.equal({ ...load, upstreamMs: 0 });
      }),
      { numRuns: 100 },
    );
  });

  it(`does not open if any bit was changed, it was cut, or something was added ${SEEDED}`, async () => {
    const bytes = await sealed();
    const more = fc.uint8Array({ minLength: 1 });
    await fc.assert(
      fc.asyncProperty(fc.nat({ max: bytes.length * 8 - 1 }), more, async (bit, added) => {
        const altered = Buffer.from(bytes);
        altered[bit >> 3] = (altered[bit >> 3] ?? 0) ^ (1 << (bit & 7));
        for (const wrong of [altered, bytes.subarray(0, bit >> 3), Buffer.concat([bytes, added])]) {
          expect(await opened(wrong)).to.equal('altered');
        }
      }),
      { numRuns: 200 },
    );
  });

  it('does not open for another name, with another key, or beyond its bound', async () => {
    const bytes = await sealed();
    for (const other of [{ name: 'name-of-another' }, { key: Buffer.alloc(32, 8) }, { maxBytes: 20 }]) {
      expect(await opened(bytes, other), JSON.stringify(other)).to.equal('altered');
    }
    expect(await opened(bytes, { reading: 'in another way' })).to.equal('miss');
  });

  it('reveals nothing of the list without the key, never looks the same, and is compact', async () => {
    const load = loadOf(manyTools(1000), { upstreamEtag: '"etag-of-the-platform"' });
    const [one, other] = [await sealed(load), await sealed(load)];
    for (const text of ['tool-1', 'SCANNER', 'etag', load.snapshot.etag, NAME, READING]) {
      expect(one.includes(text), text).to.equal(false);
    }
    expect(one.subarray(0, 12).equals(other.subarray(0, 12)), 'nonce').to.equal(false);
    expect(one.length).to.be.below(load.snapshot.bytes.length / 5);
  });

  it('has its own memory when opened', async () => {
    const load = loadOf(manyTools(1000), { loadedAt: LOADED_AT });
    const back = await opened(await sealed(load));
    if (typeof back !== 'object') throw new Error(`not opened: ${back}`);
    expect(back.snapshot.bytes.buffer.byteLength).to.equal(load.snapshot.bytes.length);
  });
});
