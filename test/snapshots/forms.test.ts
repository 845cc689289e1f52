import { gunzipSync } from 'node:zlib';
import { expect } from 'chai';
import fc from 'fast-check';
import { createSnapshotCache } from '../../src/snapshots/cache.ts';
import { createForms } from '../../src/snapshots/forms.ts';
import type { Load } from '../../src/snapshots/load.ts';
import { loadOf } from './departures.ts';

/** A load as a read gives it, held under `key`. */
function held(cache: ReturnType<typeof createSnapshotCache>, key: string, id: string): Load {
  const load = loadOf([{ id }]);
  const storing = cache.begin(key);
  storing.store(load);
  storing.end();
  return { ...load, cached: { key, freshUntil: 0, stored: true } };
}

describe('coded forms', () => {
  it('are made once, and kept with the snapshot', async () => {
    const cache = createSnapshotCache({ maxBytes: 1_000_000, maxEntries: 10 });
    const encode = createForms(cache);
    const load = held(cache, 'key', 'x'.repeat(5000));
    const [one, same] = await Promise.all([encode(load, 'gzip'), encode(load, 'gzip')]);
    expect(same).to.equal(one);
    const later = cache.get('key') ?? load;
    expect(await encode(later, 'gzip')).to.equal(one);
    expect(gunzipSync(one)).to.deep.equal(load.snapshot.bytes);
    expect(Object.keys(later.snapshot.forms)).to.deep.equal(['gzip']);
    expect(await encode(later, 'zstd')).not.to.equal(one);
  });

  it('are made and not kept for what is not stored', async () => {
    const cache = createSnapshotCache({ maxBytes: 1_000_000, maxEntries: 10 });
    const encode = createForms(cache);
    const load = loadOf([{ id: 'x'.repeat(5000) }]);
    expect(await encode(load, 'zstd')).not.to.equal(await encode(load, 'zstd'));
    expect(cache.entries).to.equal(0);
  });

  it('never take the cache beyond maxBytes, and own all of their memory', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat({ max: 3 }), { maxLength: 12 }), async (keys) => {
        const cache = createSnapshotCache({ maxBytes: 9000, maxEntries: 10 });
        const encode = createForms(cache);
        await Promise.all(
          keys.map(async (key) => {
            const load = held(cache, String(key), String.fromCharCode(97 + key).repeat(key * 700));
            for (const coding of ['gzip', 'zstd'] as const) {
              const form = await encode(load, coding);
              expect(form.buffer.byteLength).to.equal(form.length);
              expect(cache.bytes).to.be.at.most(9000);
            }
          }),
        );
      }),
      { numRuns: 50 },
    );
  });
});
