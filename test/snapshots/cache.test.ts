import { expect } from 'chai';
import { createSnapshotCache, type SnapshotCache } from '../../src/snapshots/cache.ts';
import type { Load } from '../../src/snapshots/load.ts';
import { loadOf, text } from './departures.ts';

const MANY = { maxBytes: 1_000_000, maxEntries: 100 };

function store(cache: SnapshotCache, key: string, load: Load): boolean {
  const storing = cache.begin(key);
  const stored = storing.store(load);
  storing.end();
  return stored;
}

const textIn = (cache: SnapshotCache, key: string) => {
  const load = cache.get(key);
  return load && text(load);
};

describe('the snapshot cache', () => {
  it('charges 2 KiB and all forms for each entry', () => {
    const cache = createSnapshotCache(MANY);
    const load = loadOf([{ id: 'a' }]);
    store(cache, 'key', load);
    expect(cache).to.include({ bytes: 2048 + load.snapshot.bytes.length, entries: 1 });
    cache.addForm('key', load.snapshot, 'gzip', Buffer.alloc(100));
    cache.addForm('key', load.snapshot, 'zstd', Buffer.alloc(30));
    expect(cache.bytes).to.equal(2048 + load.snapshot.bytes.length + 130);
  });

  it('lets go of what was not used for longest, at either limit', () => {
    for (const limits of [
      { maxBytes: 5000, maxEntries: 100 },
      { maxBytes: 1_000_000, maxEntries: 2 },
    ]) {
      const cache = createSnapshotCache(limits);
      store(cache, 'a', loadOf());
      store(cache, 'b', loadOf());
      cache.get('a');
      store(cache, 'c', loadOf());
      expect(['a', 'b', 'c'].filter((key) => cache.get(key) !== undefined)).to.deep.equal(['a', 'c']);
    }
  });

  it('does not store what is larger than all of it', () => {
    const cache = createSnapshotCache({ maxBytes: 3000, maxEntries: 2 });
    expect(store(cache, 'a', loadOf([{ id: 'x'.repeat(1000) }]))).to.equal(false);
    expect(cache).to.include({ bytes: 0, entries: 0 });
  });

  it('adds a form to a new, frozen object', () => {
    const cache = createSnapshotCache(MANY);
    const load = loadOf();
    store(cache, 'key', load);
    const form = Buffer.from('form');
    cache.addForm('key', load.snapshot, 'gzip', form);
    const { snapshot } = cache.get('key') ?? load;
    expect(snapshot.forms.gzip).to.equal(form);
    expect(Object.isFrozen(snapshot) && Object.isFrozen(snapshot.forms)).to.equal(true);
    expect(load.snapshot.forms).to.deep.equal({});
  });

  it('adds no form to what another load has replaced, or where there is no room', () => {
    const cache = createSnapshotCache({ maxBytes: 2100, maxEntries: 2 });
    const load = loadOf([{ id: 'a' }]);
    cache.addForm('key', load.snapshot, 'gzip', Buffer.alloc(1));
    store(cache, 'key', load);
    cache.addForm('key', load.snapshot, 'gzip', Buffer.alloc(100));
    expect(cache.get('key')).to.equal(load);
    const newer = loadOf([{ id: 'b' }]);
    store(cache, 'key', newer);
    cache.addForm('key', load.snapshot, 'gzip', Buffer.alloc(1));
    expect(cache.get('key')).to.equal(newer);
  });

  it('keeps what a load that began later has stored', () => {
    const cache = createSnapshotCache(MANY);
    const earlier = cache.begin('key');
    const later = cache.begin('key');
    expect(later.store(loadOf([{ id: 'later' }]))).to.equal(true);
    expect(earlier.store(loadOf([{ id: 'earlier' }]))).to.equal(false);
    expect(textIn(cache, 'key')).to.contain('later');
  });

  it('replaces what a load that began earlier has stored', () => {
    const cache = createSnapshotCache(MANY);
    const [earlier, later] = [cache.begin('key'), cache.begin('key')];
    expect(earlier.store(loadOf([{ id: 'earlier' }]))).to.equal(true);
    expect(later.store(loadOf([{ id: 'later' }]))).to.equal(true);
    expect(textIn(cache, 'key')).to.contain('later');
  });

  it('stores nothing that began before an eviction, whatever else began after it', () => {
    const cache = createSnapshotCache(MANY);
    const before = cache.begin('key');
    const elsewhere = cache.begin('other');
    cache.evict('key');
    const after = cache.begin('key');
    expect(before.store(loadOf())).to.equal(false);
    before.end();
    expect(after.store(loadOf([{ id: 'after' }]))).to.equal(true);
    expect(before.store(loadOf())).to.equal(false);
    expect(elsewhere.store(loadOf())).to.equal(true);
    expect(textIn(cache, 'key')).to.contain('after');
  });

  it('remembers evictions only as long as loads last', () => {
    const cache = createSnapshotCache(MANY);
    const storings = Array.from({ length: 100 }, (_, index) => cache.begin(`key ${index % 10}`));
    expect(cache.loading).to.equal(10);
    for (let index = 0; index < 1000; index += 1) cache.evict(`key ${index}`);
    expect(cache.loading).to.equal(0);
    for (const storing of storings) storing.end();
    expect(cache.loading).to.equal(0);
  });
});
