import { expect } from 'chai';
import { createFollowed } from '../../../../src/capabilities/shared-cache/snapshots/followed.ts';
import { createSnapshotCache } from '../../../../src/core/reads/snapshots/cache.ts';
import { callerOf } from '../../../core/reads/snapshots/departures.ts';
import { loadOf } from '../../../support/platform/loads.ts';

describe('the names that are followed', () => {
  function world(maxNames: number) {
    const clock = { now: 1000 };
    const cache = createSnapshotCache({ maxBytes: 100_000_000, maxEntries: 10_000 });
    const followed = createFollowed({ maxNames, now: () => clock.now });
    const hold = (token: string) => {
      const caller = callerOf(token);
      followed.follow([`name of ${token}`], { cache, resource: 'tools', caller });
      const epoch = cache.begin('tools', caller);
      return epoch;
    };
    return { clock, cache, followed, hold };
  }

  it('lead to what is held under them, and to what is being loaded', async () => {
    const { cache, followed, hold } = world(10);
    const [alice, bob] = [hold('alice'), hold('bob')];
    alice.store(loadOf());
    await followed.heard(['name of alice', 'name of bob', 'name of nobody here']);
    expect(cache.entries).to.equal(0);
    expect(bob.store(loadOf()), 'a load that was under way').to.equal(false);
  });

  it('are let go of all together where nobody knows which, in steps', async () => {
    const { cache, followed, hold } = world(10_000);
    for (let index = 0; index < 1200; index += 1) hold(`t${index}`).store(loadOf());
    const heard = followed.heard('unknown');
    expect(cache.entries, 'in the first step').to.equal(700);
    await heard;
    expect(cache.entries).to.equal(0);
  });

  it('are let go of before they are forgotten', () => {
    const { cache, hold } = world(2);
    const first = hold('a');
    first.store(loadOf());
    hold('b').store(loadOf());
    hold('c').store(loadOf());
    expect(cache.entries).to.equal(2);
    expect(first.store(loadOf()), 'a load that is not followed').to.equal(false);
  });

  it('are followed no more where nothing came of the load, unless something is held or a later one is under way', async () => {
    const { cache, followed } = world(10);
    const [alice, bob] = [callerOf('alice'), callerOf('bob', { partition: 'team' })];
    for (const caller of [alice, bob]) {
      const here = { cache, resource: 'tools', caller };
      const epoch = cache.begin('tools', caller);
      const unfollowFirst = followed.follow(['name'], here);
      followed.follow(['name'], { ...here });
      unfollowFirst();
      await followed.heard(['name']);
      expect(epoch.store(loadOf()), 'a later one is followed').to.equal(false);
      const unfollow = followed.follow(['name'], here);
      cache.begin('tools', caller).store(loadOf());
      unfollow();
      await followed.heard(['name']);
      const isServed = caller === alice ? cache.get('tools', alice) : cache.admittedAt('tools', bob) > 0;
      expect(isServed || undefined, 'what is held is followed').to.equal(undefined);
      const last = cache.begin('tools', caller);
      followed.follow(['name'], here)();
      await followed.heard(['name']);
      expect(last.store(loadOf()), 'what came to nothing is not').to.equal(true);
      cache.evict('tools', caller);
    }
  });

  it('remember when they were evicted, however many are', () => {
    const { clock, followed } = world(2);
    followed.evicted(['a']);
    expect(followed.isSinceEviction('a', 1000)).to.equal(false);
    expect(followed.isSinceEviction('a', 1001)).to.equal(true);
    expect(followed.isSinceEviction('z', 1)).to.equal(true);
    clock.now = 2000;
    followed.evicted(Array.from({ length: 20_000 }, (_, count) => `of nobody ${count}`));
    expect(followed.isSinceEviction('a', 1000)).to.equal(false);
    expect(followed.isSinceEviction('of nobody 0', 2000)).to.equal(false);
  });

  it('of made-up tokens take hardly a copy of others along', () => {
    const { followed } = world(2);
    followed.evicted(Array.from({ length: 20_000 }, (_, count) => `of nobody ${count}`));
    const others = Array.from({ length: 1000 }, (_, count) => `of somebody ${count}`);
    expect(others.filter((name) => followed.isSinceEviction(name, 1)).length).to.be.above(950);
  });

  it('are evicted no earlier where the clock goes back', () => {
    const { clock, followed } = world(2);
    followed.evicted(['a']);
    clock.now = 500;
    followed.evicted(['a']);
    expect(followed.isSinceEviction('a', 1000)).to.equal(false);
  });
});
