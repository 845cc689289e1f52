import { expect } from 'chai';
import { createEvictionIndex } from '../../../src/capabilities/shared-cache/eviction-index.ts';
import { createSnapshotCache } from '../../../src/core/reads/snapshots/cache.ts';
import { callerOf } from '../../core/reads/snapshots/departures.ts';
import { loadOf } from '../../support/platform/loads.ts';

describe('the eviction index', () => {
  function scene(maxNames: number) {
    const clock = { now: 1000 };
    const cache = createSnapshotCache({ maxBytes: 100_000_000, maxEntries: 10_000 });
    const index = createEvictionIndex({ maxNames, now: () => clock.now });
    const link = (token: string) => {
      const caller = callerOf(token);
      index.link([`name of ${token}`], { cache, resource: 'tools', caller });
      return cache.begin('tools', caller);
    };
    return { clock, cache, index, link };
  }

  it('evicts all linked entries, in steps, if evictions may have been missed', async () => {
    const { clock, cache, index, link } = scene(10_000);
    for (let count = 0; count < 1200; count += 1) link(`t${count}`).store(loadOf());
    const evicting = index.onRemoteEviction('all');
    expect(cache.entries, 'after the first step').to.equal(700);
    await evicting;
    expect(cache.entries).to.equal(0);
    expect(index.isCurrent('any name', clock.now)).to.equal(false);
    expect(index.isCurrent('any name', clock.now + 1)).to.equal(true);
  });

  it('evicts an entry whose link is displaced', () => {
    const { cache, link } = scene(2);
    const first = link('a');
    first.store(loadOf());
    link('b').store(loadOf());
    link('c').store(loadOf());
    expect(cache.entries).to.equal(2);
    expect(first.store(loadOf()), 'a load that is not linked').to.equal(false);
  });

  it('removes the links of a failed load, unless its entry is held or a later load has linked it', async () => {
    const { cache, index } = scene(10);
    const [alice, bob] = [callerOf('alice'), callerOf('bob', { cacheScope: 'team' })];
    for (const caller of [alice, bob]) {
      const entry = { cache, resource: 'tools', caller };
      const epoch = cache.begin('tools', caller);
      const unlinkFirst = index.link(['name'], entry);
      index.link(['name'], { ...entry });
      unlinkFirst();
      await index.onRemoteEviction(['name']);
      expect(epoch.store(loadOf()), 'a later load is linked').to.equal(false);
      const unlink = index.link(['name'], entry);
      cache.begin('tools', caller).store(loadOf());
      unlink();
      await index.onRemoteEviction(['name']);
      const isServed = caller === alice ? cache.get('tools', alice) : cache.admittedAt('tools', bob) > 0;
      expect(isServed || undefined, 'what is held is linked').to.equal(undefined);
      const last = cache.begin('tools', caller);
      index.link(['name'], entry)();
      await index.onRemoteEviction(['name']);
      expect(last.store(loadOf()), 'a failed load is not linked').to.equal(true);
      cache.evict('tools', caller);
    }
  });

  it('remembers evictions, however many there are, and also if the clock is set back', () => {
    const { clock, index } = scene(2);
    index.record(['a']);
    expect(index.isCurrent('a', 1000)).to.equal(false);
    expect(index.isCurrent('a', 1001)).to.equal(true);
    expect(index.isCurrent('z', 1)).to.equal(true);
    clock.now = 500;
    index.record(['a']);
    expect(index.isCurrent('a', 1000)).to.equal(false);
    clock.now = 2000;
    index.record(Array.from({ length: 20_000 }, (_, count) => `made up ${count}`));
    expect(index.isCurrent('a', 1000)).to.equal(false);
    expect(index.isCurrent('made up 0', 2000)).to.equal(false);
    const others = Array.from({ length: 1000 }, (_, count) => `of a caller ${count}`);
    expect(others.filter((name) => index.isCurrent(name, 1)).length).to.be.above(950);
  });
});
