import { gunzipSync } from 'node:zlib';
import { expect } from 'chai';
import fc from 'fast-check';
import { createRepresentations } from '../../../../src/core/reads/representations/representations.ts';
import { createSnapshotCache, type SnapshotCache } from '../../../../src/core/reads/snapshots/cache.ts';
import type { Load } from '../../../../src/core/reads/snapshots/load.ts';
import { turnsDuring } from '../../../support/a-while.ts';
import { loadOf } from '../../../support/platform/loads.ts';
import { callerOf, errorOf } from '../snapshots/fake-loader.ts';

const alice = callerOf('alice');
const BOUNDS = { maxBytes: 1_000_000, maxEntries: 10 };

function setUp(bounds = BOUNDS) {
  const cache = createSnapshotCache(bounds);
  const { gzipped, escaped } = createRepresentations(cache, { maxCompressions: 100 });
  return {
    cache,
    escaped,
    gzipped: async (load: Parameters<typeof gzipped>[0]) => (await gzipped(load)) ?? expect.fail('it is busy'),
  };
}

/** A load as a read gives it, held for alice. */
function held(cache: SnapshotCache, load: Load, resource = 'tools'): Load {
  const stored = { ...load, cached: { key: cache.keyOf(resource, alice), freshUntil: 0, stored: true } };
  const epoch = cache.begin(resource, alice);
  expect(epoch.store(stored)).to.equal(true);
  epoch.end();
  return stored;
}

const later = (cache: SnapshotCache): Load => cache.get('tools', alice) ?? expect.fail('nothing is held');

describe('a snapshot in a content coding', () => {
  it('is made once, and kept with the snapshot', async () => {
    const { cache, gzipped } = setUp();
    const load = held(cache, loadOf([{ id: 'x'.repeat(5000) }]));
    const [one, same] = await Promise.all([gzipped(load), gzipped(load)]);
    expect(same).to.equal(one);
    expect(one.buffer.byteLength, 'memory of its own').to.equal(one.length);
    expect(await gzipped(later(cache))).to.equal(one);
    expect(Object.keys(later(cache).snapshot.representations)).to.deep.equal(['gzip']);
  });

  it('is not made while maxCompressions others are', async () => {
    const { gzipped } = createRepresentations(createSnapshotCache(BOUNDS), { maxCompressions: 1 });
    const [one, other] = [loadOf([{ id: 'a' }]), loadOf([{ id: 'b' }])];
    const making = [gzipped(one), gzipped(one)];
    expect(gzipped(other)).to.equal(undefined);
    const [made, same] = await Promise.all(making);
    expect(same).to.equal(made);
    expect(gunzipSync((await gzipped(other)) ?? expect.fail('it is busy'))).to.deep.equal(other.snapshot.bytes);
  });

  it('decodes to the same bytes, is smaller, and does not block the event loop', async () => {
    const { gzipped } = setUp();
    await fc.assert(
      fc.asyncProperty(fc.array(fc.record({ id: fc.string() })), async (items) => {
        const load = loadOf(items);
        expect(gunzipSync(await gzipped(load))).to.deep.equal(load.snapshot.bytes);
      }),
      { numRuns: 50 },
    );
    const load = loadOf(Array.from({ length: 50_000 }, (_, id) => ({ id: String(id), name: 'tool' })));
    const making = gzipped(load);
    expect(await turnsDuring(making)).to.be.above(1);
    expect((await making).length).to.be.below(load.snapshot.bytes.length / 4);
  });
});

describe('an escaped snapshot', () => {
  const LONG = Array.from({ length: 6000 }, (_, index) => ({
    id: String(index),
    name: `"ü"\\ \u2028 \u{1f600} ${index}`,
  }));

  it('equals JSON.stringify of its text, whatever its length, with what closes its response', async () => {
    const { escaped } = setUp();
    for (const shift of [0, 1, 2, 3]) {
      for (const items of [[{ id: '"\\ \u2028 ü \u{1f600} \u0007' }], [{ id: 'x'.repeat(shift) }, ...LONG]]) {
        const load = loadOf(items);
        expect((await escaped(load)).toString()).to.equal(`${JSON.stringify(load.snapshot.bytes.toString())}}]}}`);
      }
    }
  });

  it('is made once, kept with the snapshot, and charged', async () => {
    for (const items of [[{ id: 'a' }], LONG]) {
      const { cache, escaped } = setUp({ maxBytes: 10_000_000, maxEntries: 10 });
      const load = held(cache, loadOf(items));
      const before = cache.bytes;
      const made = await escaped(load);
      expect(await escaped(later(cache))).to.equal(made);
      expect(later(cache).snapshot.representations['escaped']).to.equal(made);
      expect(cache.bytes).to.be.above(before + made.length);
      expect(made.buffer.byteLength).to.equal(made.length);
    }
  });

  it('does not block the event loop while many bytes are escaped and copied', async () => {
    const load = loadOf([...LONG, { id: 'x'.repeat(4_000_000) }]);
    const making = setUp().escaped(load);
    expect(await turnsDuring(making)).to.be.above(load.snapshot.bytes.length / 262_144);
    expect((await making).length).to.be.above(load.snapshot.bytes.length);
  });

  it('is made within maxEscapingBytes, and always for one snapshot', async () => {
    const list = (more: string) => loadOf([...LONG, { id: more }]);
    const [a, b, c] = [list('a'), list('b'), list('c')];
    const small = loadOf([{ id: 'a' }]);
    for (const [maxEscapingBytes, atATime] of [
      [2.5 * a.snapshot.bytes.length, 2],
      [2 * a.snapshot.bytes.length, 2],
      [1024, 1],
    ] as const) {
      const { escaped } = createRepresentations(createSnapshotCache(BOUNDS), { maxEscapingBytes });
      for (const _ of [1, 2]) {
        const copies = [a, b, c].map(({ snapshot }) => ({
          snapshot: { ...snapshot, bytes: Buffer.from(snapshot.bytes) },
        }));
        const [first, ...others] = copies.slice(0, atATime).map(escaped);
        for (const load of copies.slice(atATime)) {
          expect(await errorOf(escaped(load))).to.include({ code: 'overloaded' });
        }
        // Neither what is being made already nor what is made at once needs room.
        for (const load of [...copies.slice(0, atATime), small]) await escaped(load);
        expect((await first)?.length).to.be.above(a.snapshot.bytes.length);
        await Promise.all(others);
      }
    }
  });
});
