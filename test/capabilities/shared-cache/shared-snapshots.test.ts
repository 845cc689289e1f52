import { expect } from 'chai';
import { callerOf, errorOf } from '../../core/reads/snapshots/fake-loader.ts';
import {
  alice,
  failed,
  MINUTE,
  pendingLoadOf,
  readAnswered,
  readRejected,
  SECOND,
} from '../../core/reads/snapshots/replica.ts';
import { eventually } from '../../support/eventually.ts';
import { manyTools } from '../../support/platform/loads.ts';
import { bob, carol, deployment, ids, readLanding, rejected, secretOf } from './deployment.ts';

describe('a read that misses the memory of its replica', () => {
  it('serves what another replica has loaded, with its age, and keeps it in memory', async () => {
    const { replica, clock } = deployment();
    const [one, other] = [replica(), replica()];
    const loaded = await readLanding(one, 'a', alice, { excluded: 3, dropped: 2, upstreamEtag: '"x"' });
    clock.now += 20 * SECOND;
    const copied = await other.tools.read(alice);
    expect(copied).to.deep.include({ snapshot: { ...loaded.snapshot }, excluded: 3, dropped: 2 });
    expect(copied).to.include({ fromSharedCache: true, upstreamMs: 0 });
    expect(copied.cached).to.include({ stored: false, freshUntil: clock.now + 40 * SECOND });
    expect(copied.cached).to.not.have.property('forwarded');
    const hit = await other.tools.read(alice);
    expect(hit).to.not.have.property('fromSharedCache');
    expect([other.outcomes(), other.ended, other.tools.pendingLoads]).to.deep.equal([['hit'], ['shared', 'hit'], []]);
    expect(one.outcomes()).to.deep.equal(['miss']);
    expect(one.puts).to.deep.equal([{ resource: 'tools', outcome: 'stored' }]);
  });

  it('serves a stale copy at once, and refreshes it in the background', async () => {
    const { replica, clock } = deployment();
    const [one, other] = [replica(), replica()];
    await readLanding(one, 'old');
    clock.now += 2 * MINUTE;
    expect(ids(await other.tools.read(alice))).to.equal('old');
    expect(other.ended).to.deep.equal(['stale']);
    (await pendingLoadOf(other.tools)).finish([{ id: 'new' }]);
    await eventually(() => other.puts.length === 1);
    expect(ids(await other.tools.read(alice))).to.equal('new');
    expect(ids(await replica().tools.read(alice))).to.equal('new');
    expect(other.tools.pendingLoads).to.have.length(1);
  });

  it('calls the upstream for no-cache, unless the copy is younger than minRefreshMs', async () => {
    const { replica, clock } = deployment();
    const [one, other] = [replica(), replica()];
    await readLanding(one, 'a');
    clock.now += 4 * SECOND;
    expect(ids(await other.tools.read(alice, { noCache: true }))).to.equal('a');
    clock.now += 2 * SECOND;
    const reading = replica().tools;
    expect(ids(await readAnswered(reading, [{ id: 'b' }], alice, { noCache: true }))).to.equal('b');
  });

  it('serves and stores nothing past the end of its token', async () => {
    const { replica, clock, redis } = deployment();
    const ending = callerOf('alice', { expiresAt: clock.now + 30 * SECOND });
    await readLanding(replica(), 'a', ending);
    expect((await replica().tools.read(ending)).cached).to.include({ freshUntil: clock.now + 30 * SECOND });
    clock.now += 30 * SECOND;
    expect(redis.held.size).to.equal(0);
    await readLanding(replica(), 'without an end');
    const over = replica();
    await readLanding(over, 'b', ending);
    expect(over.outcomes()).to.deep.equal(['miss']);
    expect(over.puts).to.deep.equal([{ resource: 'tools', outcome: 'refused' }]);
  });
});

describe('a shared copy', () => {
  it('belongs to one caller, even if callers share a cache scope', async () => {
    const { replica } = deployment();
    const [one, other] = [replica(), replica()];
    await readLanding(one, 'of bob', bob);
    await readLanding(other, 'of carol', carol);
    expect(other.outcomes(), 'carol was shown nothing of bob').to.deep.equal(['miss']);
    // Her own copy admits her there, as a load of her own would have.
    const third = replica();
    expect(ids(await third.tools.read(carol))).to.equal('of carol');
    expect(third.cache.lastOwnLoadAt('tools', carol)).to.be.a('number').and.be.above(0);
    expect(third.cache.lastOwnLoadAt('tools', bob)).to.equal(Number.NEGATIVE_INFINITY);
  });

  it('does not open for another caller, resource, deployment or way of reading', async () => {
    const { replica, redis } = deployment();
    await readLanding(replica(), 'a');
    const [[name, bytes] = ['', Buffer.of()]] = redis.held;
    const others = [replica({ secret: secretOf('of another deployment') }), replica({ fingerprint: 'in another way' })];
    for (const other of others) {
      await readLanding(other, 'b');
      expect(other.outcomes()).to.deep.equal(['miss']);
    }
    await readLanding(replica(), 'c', bob);
    for (const each of redis.held.keys()) if (each !== name) redis.tamper(each, bytes);
    const victim = replica();
    await readLanding(victim, 'd', bob);
    expect(victim.outcomes()).to.deep.equal(['altered']);
  });

  it('is not stored if it is too long', async () => {
    const { replica, redis } = deployment();
    const one = replica({ maxValueBytes: 200 });
    await readAnswered(one.tools, manyTools(200));
    await eventually(() => one.puts.length === 1);
    expect(one.puts).to.deep.equal([{ resource: 'tools', outcome: 'too_large' }]);
    expect(redis.held.size).to.equal(0);
  });

  it('is kept while the upstream is asked, and served if that fails', async () => {
    const { replica, clock } = deployment();
    await readLanding(replica(), 'old', alice, { upstreamEtag: '"x"' });
    clock.now += 10 * MINUTE;
    const other = replica();
    const reading = other.tools.read(alice);
    const pendingLoad = await pendingLoadOf(other.tools);
    expect(pendingLoad.options?.previous?.upstreamEtag).to.equal('"x"');
    pendingLoad.reject(failed);
    expect(ids(await reading)).to.equal('old');
    expect(other.outcomes()).to.deep.equal(['stale']);
  });
});

describe('an eviction', () => {
  it('prevents that loads which began before it are stored, in Redis or by a replica', async () => {
    const { replica, redis, clock } = deployment();
    const [one, other] = [replica(), replica()];
    const early = one.tools.read(alice);
    const pendingLoad = await pendingLoadOf(one.tools);
    clock.now += SECOND;
    await errorOf(readRejected(other.projects, rejected));
    pendingLoad.finish([{ id: 'too early' }]);
    await early;
    await eventually(() => one.puts.length === 1);
    expect(one.puts).to.deep.equal([{ resource: 'tools', outcome: 'refused' }]);
    expect([redis.held.size, one.cache.entries]).to.deep.equal([0, 0]);
  });

  it('makes every replica refuse the same value when it is stored again', async () => {
    const { replica, clock, redis } = deployment();
    const [one, other] = [replica(), replica()];
    await readLanding(one, 'a');
    const [[name, bytes] = ['', Buffer.of()]] = redis.held;
    clock.now += SECOND;
    await errorOf(readRejected(one.projects, rejected));
    clock.now += SECOND;
    redis.tamper(name, bytes);
    for (const { tools, outcomes } of [one, other]) {
      const loads = tools.pendingLoads.length;
      void tools.read(alice).catch(() => {});
      (await pendingLoadOf(tools, loads)).reject(failed);
      expect(outcomes().at(-1)).to.equal('miss');
    }
  });

  it('that no replica has sealed is ignored', async () => {
    const { replica, redis } = deployment();
    const one = replica();
    await readLanding(one, 'a');
    for (const message of ['', 'made up', JSON.stringify({ names: { tools: 'a' } }), 'A'.repeat(100)]) {
      await redis.publish(message);
    }
    expect(one.cache.entries).to.equal(1);
  });
});
