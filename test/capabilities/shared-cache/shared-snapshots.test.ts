import { expect } from 'chai';
import { callerOf } from '../../core/reads/snapshots/departures.ts';
import { eventually } from '../../support/eventually.ts';
import { manyTools } from '../../support/platform/loads.ts';
import {
  alice,
  bob,
  carol,
  departureOf,
  deployment,
  ids,
  MINUTE,
  readAnswered,
  readLanding,
  SECOND,
  secretOf,
} from './deployment.ts';

describe('a read that misses the memory of its replica', () => {
  it('serves what another replica has loaded, with its age, and keeps it in memory', async () => {
    const { replica, clock } = deployment();
    const [one, other] = [replica(), replica()];
    const loaded = await readLanding(one, 'a', alice, { excluded: 3, dropped: 2, upstreamEtag: '"x"' });
    clock.now += 20 * SECOND;
    const copied = await other.tools.read(alice);
    expect(copied).to.deep.include({ snapshot: { ...loaded.snapshot }, excluded: 3, dropped: 2 });
    expect(copied).to.include({ copied: true, upstreamMs: 0 });
    expect(copied.cached).to.include({ stored: false, freshUntil: clock.now + 40 * SECOND });
    expect(copied.cached).to.not.have.property('forwarded');
    const hit = await other.tools.read(alice);
    expect(hit).to.not.have.property('copied');
    expect([other.outcomes(), other.ended, other.tools.departures]).to.deep.equal([['hit'], ['shared', 'hit'], []]);
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
    (await departureOf(other.tools)).land([{ id: 'new' }]);
    await eventually(() => other.puts.length === 1);
    expect(ids(await other.tools.read(alice))).to.equal('new');
    expect(ids(await replica().tools.read(alice))).to.equal('new');
    expect(other.tools.departures).to.have.length(1);
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
    const { replica, clock, store } = deployment();
    const ending = callerOf('alice', { expiresAt: clock.now + 30 * SECOND });
    await readLanding(replica(), 'a', ending);
    expect((await replica().tools.read(ending)).cached).to.include({ freshUntil: clock.now + 30 * SECOND });
    clock.now += 30 * SECOND;
    expect(store.held.size).to.equal(0);
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
    expect(third.cache.admittedAt('tools', carol)).to.be.a('number').and.be.above(0);
    expect(third.cache.admittedAt('tools', bob)).to.equal(Number.NEGATIVE_INFINITY);
  });

  it('does not open for another caller, resource, deployment or way of reading', async () => {
    const { replica, store } = deployment();
    await readLanding(replica(), 'a');
    const [[name, bytes] = ['', Buffer.of()]] = store.held;
    const others = [replica({ secrets: [secretOf('of another deployment')] }), replica({ reading: 'in another way' })];
    for (const other of others) {
      await readLanding(other, 'b');
      expect(other.outcomes()).to.deep.equal(['miss']);
    }
    await readLanding(replica(), 'c', bob);
    for (const each of store.held.keys()) if (each !== name) store.tamper(each, bytes);
    const victim = replica();
    await readLanding(victim, 'd', bob);
    expect(victim.outcomes()).to.deep.equal(['altered']);
  });

  it('is a miss if it was altered in any way', async () => {
    const { replica, store } = deployment();
    await readLanding(replica(), 'a');
    const [[name, bytes] = ['', Buffer.of()]] = store.held;
    const last = Buffer.from(bytes);
    last[last.length - 1] = (last.at(-1) ?? 0) ^ 1;
    const vast = Buffer.from(bytes);
    vast.writeUInt32BE(2 ** 32 - 1, 17);
    for (const altered of [last, vast, Buffer.alloc(0), Buffer.from('what is this?'), Buffer.alloc(100_001, 1)]) {
      store.tamper(name, altered);
      const victim = replica();
      await readLanding(victim, 'b');
      expect(victim.outcomes()).to.deep.equal(['altered']);
    }
  });

  it('is not stored if it is too long', async () => {
    const { replica, store } = deployment();
    for (const options of [{ maxValueBytes: 200 }, { maxBytes: 200 }]) {
      const one = replica(options);
      await readAnswered(one.tools, manyTools(200));
      await eventually(() => one.puts.length === 1);
      expect(one.puts).to.deep.equal([{ resource: 'tools', outcome: 'too_large' }]);
      expect(store.held.size).to.equal(0);
      await eventually(async () => one.connection.calls.release === 1);
    }
  });

  it('causes no wait for ten minutes if it was too long, and is shared again later', async () => {
    const { replica, store, clock } = deployment();
    const one = replica({ maxValueBytes: 200 });
    const read = (items: object[]) => readAnswered(one.tools, items, alice, { noCache: true });
    await read(manyTools(200));
    await eventually(() => one.connection.calls.release === 1);
    clock.now += MINUTE;
    await read([{ id: 'a' }]);
    expect([one.outcomes(), one.connection.calls.lease]).to.deep.equal([['miss'], 1]);
    expect(one.tools.departures[1]?.options?.known, 'the upstream may say that it is still so').to.be.an('object');
    clock.now += 10 * MINUTE;
    await read([{ id: 'b' }]);
    await eventually(() => store.held.size === 1);
  });
});

describe('with too much being sealed and opened', () => {
  it('copies are not opened, loads are not stored, and leases are released', async () => {
    const { replica } = deployment();
    await readLanding(replica(), 'a');
    const full = replica({ semaphore: async () => 'overloaded' });
    await readLanding(full, 'b');
    expect([full.outcomes(), full.puts]).to.deep.equal([['stale'], [{ resource: 'tools', outcome: 'overloaded' }]]);
    await eventually(() => full.connection.calls.release === 1);
  });
});
