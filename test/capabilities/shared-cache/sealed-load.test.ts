import { expect } from 'chai';
import fc from 'fast-check';
import {
  isOfReading,
  lengthOf,
  readSealed,
  type SealedFor,
  seal,
  unseal,
} from '../../../src/capabilities/shared-cache/sealed-load.ts';
import type { Load } from '../../../src/core/reads/snapshots/load.ts';
import { anyText } from '../../support/any-text.ts';
import { loadOf, manyTools, toolItem } from '../../support/platform/loads.ts';
import { SEEDED } from '../../support/seed.ts';

const KEY = Buffer.alloc(32, 7);
const FOR: SealedFor = { name: 'name-of-the-caller', resource: 'tools', reading: 'cmVhZGluZw-reading' };
const LOADED_AT = 1_800_000_000_000;
const EXPIRES_AT = LOADED_AT + 60_000;

/** What comes of bytes from the store, as far as they are looked at. */
async function opened(bytes: Buffer, key = KEY, sealedFor = FOR): Promise<Load | undefined> {
  const sealed = readSealed(bytes);
  if (sealed === undefined || !isOfReading(sealed, sealedFor)) return undefined;
  return unseal(sealed, key, sealedFor);
}

const items = fc.array(fc.record({ id: fc.string(), description: anyText() }), { maxLength: 30 });
const facts = fc.record(
  { pages: fc.nat(), dropped: fc.nat(), upstreamEtag: fc.string(), upstreamSaid: fc.string() },
  { requiredKeys: ['pages', 'dropped'] },
);

describe('a sealed load', () => {
  it(`returns the whole load, whatever the list ${SEEDED}`, async () => {
    await fc.assert(
      fc.asyncProperty(items, facts, async (list, rest) => {
        const load = loadOf(list, { loadedAt: LOADED_AT, ...rest });
        const back = await opened(await seal(load, KEY, EXPIRES_AT, FOR));
        expect(back).to.deep.equal({ ...load, upstreamMs: 0 });
      }),
      { numRuns: 100 },
    );
  });

  it(`does not open if any bit was changed ${SEEDED}`, async () => {
    const sealed = await seal(loadOf([toolItem('a')], { loadedAt: LOADED_AT }), KEY, EXPIRES_AT, FOR);
    await fc.assert(
      fc.asyncProperty(fc.nat({ max: sealed.length * 8 - 1 }), async (bit) => {
        const altered = Buffer.from(sealed);
        const at = bit >> 3;
        altered[at] = (altered[at] ?? 0) ^ (1 << (bit & 7));
        expect(await opened(altered)).to.equal(undefined);
      }),
      { numRuns: 300 },
    );
  });

  it('does not open if its stated length is not that of the content', async () => {
    const sealed = await seal(loadOf([toolItem('a')], { loadedAt: LOADED_AT }), KEY, EXPIRES_AT, FOR);
    const shorter = readSealed(sealed);
    if (shorter === undefined) throw new Error('not sealed');
    expect(await unseal({ ...shorter, length: shorter.length - 1 }, KEY, FOR)).to.equal(undefined);
  });

  it(`does not open if it was cut, or something was added ${SEEDED}`, async () => {
    const sealed = await seal(loadOf([toolItem('a')], { loadedAt: LOADED_AT }), KEY, EXPIRES_AT, FOR);
    await fc.assert(
      fc.asyncProperty(fc.nat({ max: sealed.length - 1 }), fc.uint8Array({ minLength: 1 }), async (length, more) => {
        expect(await opened(sealed.subarray(0, length))).to.equal(undefined);
        expect(await opened(Buffer.concat([sealed, more]))).to.equal(undefined);
      }),
      { numRuns: 100 },
    );
  });

  it('does not open for another name, resource or reading, nor with another key', async () => {
    const sealed = await seal(loadOf([toolItem('a')]), KEY, EXPIRES_AT, FOR);
    expect(await opened(sealed)).to.not.equal(undefined);
    for (const other of [
      { name: 'name-of-another' },
      { resource: 'workflows' },
      { reading: 'b3RoZXItcmVhZGluZw' },
      { reading: 'cmVhZGluZw-reading-and-more' },
    ]) {
      expect(await opened(sealed, KEY, { ...FOR, ...other }), JSON.stringify(other)).to.equal(undefined);
    }
    expect(await opened(sealed, Buffer.alloc(32, 8))).to.equal(undefined);
  });

  it('reveals nothing of the list without the key, and never looks the same', async () => {
    const load = loadOf(manyTools(50), { upstreamEtag: '"etag-of-the-platform"' });
    const one = await seal(load, KEY, EXPIRES_AT, FOR);
    const other = await seal(load, KEY, EXPIRES_AT, FOR);
    for (const text of ['tool-1', 'SCANNER', 'etag', load.snapshot.etag, FOR.name]) {
      expect(one.includes(text), text).to.equal(false);
    }
    expect(one.subarray(29).equals(other.subarray(29))).to.equal(false);
    expect(one.subarray(29, 41).equals(other.subarray(29, 41)), 'nonce').to.equal(false);
  });

  it('is compact, and states its length before it is opened', async () => {
    const load = loadOf(manyTools(1000));
    const sealed = await seal(load, KEY, EXPIRES_AT, FOR);
    expect(sealed.length).to.be.below(load.snapshot.bytes.length / 5);
    expect(readSealed(sealed)?.length).to.equal(lengthOf(load)).and.be.above(load.snapshot.bytes.length);
  });

  it('has its own memory when opened', async () => {
    const load = loadOf(manyTools(1000), { loadedAt: LOADED_AT });
    const back = await opened(await seal(load, KEY, EXPIRES_AT, FOR));
    expect(back?.snapshot.bytes.buffer.byteLength).to.equal(load.snapshot.bytes.length);
  });
});
