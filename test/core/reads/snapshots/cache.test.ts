import { expect } from 'chai';
import {
  createSnapshotCache,
  type SnapshotCache,
  type StoreTicket,
} from '../../../../src/core/reads/snapshots/cache.ts';
import type { Load } from '../../../../src/core/reads/snapshots/load.ts';
import { loadOf } from '../../../support/platform/loads.ts';
import { callerOf, text } from './fake-loader.ts';

const MANY = { maxBytes: 1_000_000, maxEntries: 100 };
const alice = callerOf('alice');
const KEY = createSnapshotCache(MANY).keyOf('tools', alice);

function store(cache: SnapshotCache, load: Load, resource = 'tools', caller = alice): boolean {
  const epoch = cache.begin(resource, caller);
  const stored = epoch.store(load);
  epoch.end();
  return stored;
}

const textIn = (cache: SnapshotCache) => {
  const load = cache.get('tools', alice);
  return load && text(load);
};

describe('the snapshot cache', () => {
  it('charges 2 KiB, item offsets and all representations per entry', () => {
    const cache = createSnapshotCache(MANY);
    const load = loadOf([{ id: 'a' }, { id: 'b' }]);
    store(cache, load);
    const plain = 2048 + load.snapshot.bytes.length + 2 * 4;
    expect(cache).to.include({ bytes: plain, entries: 1 });
    cache.addRepresentation(KEY, load.snapshot, 'gzip', Buffer.alloc(100));
    cache.addRepresentation(KEY, load.snapshot, 'zstd', Buffer.alloc(30));
    expect(cache.bytes).to.equal(plain + 130 + 2 * 256 + 2 * 8);
  });

  it('evicts the least recently used, at either bound', () => {
    for (const bounds of [
      { maxBytes: 5000, maxEntries: 100 },
      { maxBytes: 1_000_000, maxEntries: 2 },
    ]) {
      const cache = createSnapshotCache(bounds);
      store(cache, loadOf(), 'a');
      store(cache, loadOf(), 'b');
      cache.get('a', alice);
      store(cache, loadOf(), 'c');
      expect(['a', 'b', 'c'].filter((name) => cache.get(name, alice) !== undefined)).to.deep.equal(['a', 'c']);
    }
  });

  it('stores the result of the load that began last, and none that began before an eviction', () => {
    const cache = createSnapshotCache(MANY);
    const [first, earlier, later] = [1, 2, 3].map(() => cache.begin('tools', alice)) as [
      StoreTicket,
      StoreTicket,
      StoreTicket,
    ];
    const elsewhere = cache.begin('workflows', alice);
    expect(first.store(loadOf([{ id: 'first' }]))).to.equal(true);
    expect(later.store(loadOf([{ id: 'later' }]))).to.equal(true);
    expect(earlier.store(loadOf([{ id: 'earlier' }]))).to.equal(false);
    expect(textIn(cache)).to.contain('later');
    cache.evict('tools', alice);
    const after = cache.begin('tools', alice);
    expect(later.store(loadOf())).to.equal(false);
    expect(after.store(loadOf([{ id: 'after' }]))).to.equal(true);
    expect(elsewhere.store(loadOf())).to.equal(true);
    expect(textIn(cache)).to.contain('after');
  });

  it('keeps a copy until an eviction, and never in place of a newer one', () => {
    const cache = createSnapshotCache(MANY);
    const [earlier, later] = [cache.begin('tools', alice), cache.begin('tools', alice)];
    expect(later.keep(loadOf([{ id: 'copy' }], { loadedAt: 5 }))).to.equal(true);
    expect(later.keep(loadOf([{ id: 'older copy' }], { loadedAt: 4 }))).to.equal(false);
    expect(textIn(cache)).to.contain('"copy"');
    later.keep(loadOf([{ id: 'newer copy' }], { loadedAt: 6 }));
    expect(earlier.store(loadOf([{ id: 'load' }], { loadedAt: 7 })), 'a load that began earlier').to.equal(true);
    cache.evict('tools', alice);
    expect(later.keep(loadOf([{ id: 'copy of what was denied' }], { loadedAt: 8 }))).to.equal(false);
    expect(cache.entries).to.equal(0);
  });
});

describe('a cache scope that several credentials share', () => {
  it('serves each credential from its own last load, despite an older copy', () => {
    const cache = createSnapshotCache(MANY);
    const bob = callerOf('bob', { cacheScope: 'tenant' });
    const epoch = cache.begin('tools', bob);
    epoch.store(loadOf([], { loadedAt: 7 }));
    epoch.keep(loadOf([], { loadedAt: 5 }));
    expect(cache.lastOwnLoadAt('tools', bob)).to.equal(7);
    epoch.keep(loadOf([], { loadedAt: 9 }));
    expect(cache.lastOwnLoadAt('tools', bob)).to.equal(9);
  });

  it('remembers the loads of as many credentials as it may have entries', () => {
    const cache = createSnapshotCache({ maxBytes: 1_000_000, maxEntries: 2 });
    const credentials = ['a', 'b', 'c'].map((token) => callerOf(token, { cacheScope: 'tenant' }));
    for (const one of credentials) store(cache, loadOf([], { loadedAt: 1 }), 'tools', one);
    const admitted = credentials.filter((one) => cache.lastOwnLoadAt('tools', one) === 1);
    expect(admitted.map(({ credentialKey: key }) => key)).to.deep.equal(['b', 'c']);
  });
});
