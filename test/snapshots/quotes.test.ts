import { expect } from 'chai';
import { createSnapshotCache } from '../../src/snapshots/cache.ts';
import type { Load } from '../../src/snapshots/load.ts';
import { createQuotes } from '../../src/snapshots/quotes.ts';
import type { Snapshot } from '../../src/snapshots/snapshot.ts';
import { createSnapshotWriter } from '../../src/snapshots/snapshot-writer.ts';

const KEY = 'partition tools';

function snapshotOf(text: string): Snapshot {
  const writer = createSnapshotWriter(0);
  writer.add([{ id: text }]);
  return writer.finish();
}

/** A load that is held under `key`, as a read is given it. */
function held(cache: ReturnType<typeof createSnapshotCache>, snapshot: Snapshot, key = KEY): Load {
  const load: Load = { snapshot, upstreamMs: 0, pages: 1, dropped: 0 };
  const storing = cache.begin(key);
  expect(storing.store(load)).to.equal(true);
  storing.end();
  return { ...load, cached: { key, freshUntil: 1, stored: false } };
}

describe('the quoted form of a snapshot', () => {
  it('is its bytes as a string within JSON', () => {
    const snapshot = snapshotOf('"\\ \u2028 ü \u{1f600} \u0007');
    const quoted = createQuotes(createSnapshotCache({ maxBytes: 10_000, maxEntries: 1 }))({ snapshot });
    expect(JSON.parse(quoted.toString())).to.equal(snapshot.bytes.toString());
  });

  it('is made once, kept with the snapshot, and charged', () => {
    const cache = createSnapshotCache({ maxBytes: 10_000, maxEntries: 1 });
    const quote = createQuotes(cache);
    const load = held(cache, snapshotOf('a'));
    const before = cache.bytes;
    const quoted = quote(load);
    expect(cache.get(KEY)?.snapshot.forms.quoted).to.equal(quoted);
    expect(cache.bytes).to.equal(before + quoted.length);
    expect(quote(load)).to.equal(quoted);
    expect(quoted.buffer.byteLength).to.equal(quoted.length);
  });

  it('is shared by snapshots that share their bytes', () => {
    const cache = createSnapshotCache({ maxBytes: 10_000, maxEntries: 2 });
    const quote = createQuotes(cache);
    const snapshot = snapshotOf('a');
    expect(quote(held(cache, snapshot, 'one'))).to.equal(quote(held(cache, { ...snapshot }, 'other')));
    expect(cache.get('other')?.snapshot.forms.quoted).to.equal(cache.get('one')?.snapshot.forms.quoted);
  });

  it('is not kept where there is no room for it, or the snapshot is not held', () => {
    const cache = createSnapshotCache({ maxBytes: 2048 + 20, maxEntries: 1 });
    const quote = createQuotes(cache);
    const load = held(cache, snapshotOf('a'));
    quote(load);
    expect(cache.get(KEY)?.snapshot.forms).to.deep.equal({});
    expect(JSON.parse(quote({ snapshot: snapshotOf('b') }).toString())).to.equal('[{"id":"b"}]');
  });
});
