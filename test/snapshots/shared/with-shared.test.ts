import { expect } from 'chai';
import type { Caller } from '../../../src/kernel/caller.ts';
import { GatewayError } from '../../../src/kernel/errors.ts';
import type { Load } from '../../../src/snapshots/load.ts';
import { eventually } from '../../support/eventually.ts';
import { manyTools } from '../../support/platform/loads.ts';
import { callerOf, errorOf, settle, text } from '../departures.ts';
import { type Deployment, departureOf, deployment, LIFETIME, type Replica, secretOf } from './replicas.ts';

const SECOND = 1000;
const MINUTE = 60_000;
const failed = new GatewayError('upstream_failed', { upstreamStatus: 503 });

const alice = callerOf('alice');
/** They share a partition, as callers of one tenant. */
const bob = callerOf('bob', { partition: 'team' });
const carol = callerOf('carol', { partition: 'team' });

/** Reads tools on a replica where the upstream is asked, and has it answer with one item of this id. */
async function readLanding(
  replica: Replica,
  id: string,
  caller: Caller = alice,
  rest: Partial<Load> = {},
): Promise<Load> {
  const { tools, puts } = replica;
  const [loads, put] = [tools.departures.length, puts.length];
  const reading = tools.read(caller);
  (await departureOf(tools, loads)).land([{ id }], rest);
  const loaded = await reading;
  await eventually(() => puts.length > put);
  return loaded;
}

/** The one who waits for another replica goes on. */
async function wakeOne({ sleeping }: Deployment): Promise<void> {
  const next = await eventually(() => sleeping.shift());
  next.wake();
  await settle();
}

const ids = (load: Load): string =>
  JSON.parse(text(load))
    .map(({ id }: { id: string }) => id)
    .join();

describe('a read that misses the first level', () => {
  it('takes what another replica has loaded, as old as it is, and has it from then on', async () => {
    const { replica, clock } = deployment();
    const [one, other] = [replica(), replica()];
    const loaded = await readLanding(one, 'a', alice, { dropped: 2, upstreamEtag: '"x"' });
    clock.now += 20 * SECOND;
    const copied = await other.tools.read(alice);
    expect(copied).to.deep.include({ snapshot: { ...loaded.snapshot }, dropped: 2, copied: true, upstreamMs: 0 });
    expect(copied.cached).to.include({ stored: false, freshUntil: clock.now + 40 * SECOND });
    expect(copied.cached).to.not.have.property('forwarded');
    const hit = await other.tools.read(alice);
    expect(hit).to.not.have.property('copied');
    expect([other.outcomes(), other.ended, other.tools.departures]).to.deep.equal([['hit'], ['shared', 'hit'], []]);
    expect(one.outcomes()).to.deep.equal(['miss']);
    expect(one.puts).to.deep.equal([{ resource: 'tools', outcome: 'stored' }]);
  });

  it('takes what is stale at once, too, and has it refreshed behind the read', async () => {
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

  it('is told what a copy knows of the upstream, and is served that where the upstream fails', async () => {
    const { replica, clock } = deployment();
    const [one, other] = [replica(), replica()];
    await readLanding(one, 'old', alice, { upstreamEtag: '"x"' });
    clock.now += 30 * MINUTE;
    const reading = other.tools.read(alice);
    const departure = await departureOf(other.tools);
    expect(departure.options?.known).to.include({ upstreamEtag: '"x"' }).and.not.have.property('copied');
    departure.reject(failed);
    const served = await reading;
    expect(ids(served)).to.equal('old');
    expect(served.cached).to.include({ forwarded: 'stale', error: failed });
    expect(other.outcomes()).to.deep.equal(['stale']);
    expect(other.connection.calls.release, 'the lease goes back').to.equal(1);
  });

  it('is served no copy where the upstream denies it, nor after its whole life', async () => {
    const { replica, clock } = deployment();
    const one = replica();
    await readLanding(one, 'old');
    clock.now += 30 * MINUTE;
    const other = replica();
    const denied = errorOf(other.tools.read(alice));
    (await departureOf(other.tools)).reject(new GatewayError('access_denied', { upstreamStatus: 403 }));
    expect(await denied).to.include({ code: 'access_denied' });
    await readLanding(one, 'newer', callerOf('dave'));
    clock.now += 61 * MINUTE;
    const late = errorOf(other.tools.read(callerOf('dave')));
    (await departureOf(other.tools, 1)).reject(failed);
    expect(await late).to.equal(failed);
  });

  it('asks the upstream where it wants that, unless it was asked a moment ago', async () => {
    const { replica, clock } = deployment();
    const [one, other] = [replica(), replica()];
    await readLanding(one, 'a');
    clock.now += 4 * SECOND;
    expect(ids(await other.tools.read(alice, { noCache: true }))).to.equal('a');
    clock.now += 2 * SECOND;
    const reading = replica().tools;
    const refreshed = reading.read(alice, { noCache: true });
    (await departureOf(reading)).land([{ id: 'b' }]);
    expect(ids(await refreshed)).to.equal('b');
  });

  it('takes nothing that is not fresh where it wants that, however long the upstream is spared', async () => {
    const { replica, clock } = deployment();
    const lifetime = { ...LIFETIME, minRefreshMs: 10 * MINUTE };
    await readLanding(replica(), 'a');
    clock.now += MINUTE;
    const { tools } = replica({ lifetime });
    const refreshed = tools.read(alice, { noCache: true });
    (await departureOf(tools)).land([{ id: 'b' }]);
    expect(ids(await refreshed)).to.equal('b');
  });

  it('asks anew where it has joined a read that took an older copy', async () => {
    const { replica, clock } = deployment();
    const [one, other] = [replica(), replica()];
    await readLanding(one, 'a');
    clock.now += 10 * SECOND;
    const [plain, wanting] = [other.tools.read(alice), other.tools.read(alice, { noCache: true })];
    expect(ids(await plain)).to.equal('a');
    (await departureOf(other.tools)).land([{ id: 'b' }]);
    expect(ids(await wanting)).to.equal('b');
  });

  it('of projects never looks there', async () => {
    const { replica, store } = deployment();
    const one = replica();
    const reading = one.projects.read(alice);
    (await departureOf(one.projects)).land([{ id: 'p' }]);
    await reading;
    await settle();
    expect([one.connection.calls.look, one.connection.calls.put, store.held.size]).to.deep.equal([0, 0, 0]);
  });

  it('takes a copy of the near future for one of now, since clocks differ, and none of the far future', async () => {
    const { replica, clock } = deployment();
    await readLanding(replica(), 'a');
    clock.now -= 800;
    const copied = await replica().tools.read(alice);
    expect(copied.snapshot.loadedAt).to.equal(clock.now);
    clock.now -= 800;
    const far = replica();
    await readLanding(far, 'b');
    expect(far.outcomes()).to.deep.equal(['miss']);
  });

  it('takes nothing past the end of its token, with which the copy ends, too', async () => {
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

  it('takes nothing past the end of its token that a reader with a longer one has found', async () => {
    const world = deployment();
    const [one, other] = [world.replica(), world.replica()];
    const ending = callerOf('alice', { expiresAt: world.clock.now + 5 });
    const loading = one.tools.read(alice);
    const loads = await departureOf(one.tools);
    const waiting = other.tools.read(alice);
    await eventually(() => world.sleeping.length === 1);
    const joined = other.tools.read(ending);
    loads.land([{ id: 'a' }]);
    await loading;
    await eventually(() => one.puts.length === 1);
    await wakeOne(world);
    expect(ids(await waiting)).to.equal('a');
    (await departureOf(other.tools)).land([{ id: 'b' }]);
    expect(ids(await joined)).to.equal('b');
  });
});

describe('what replicas share', () => {
  it('is the own of each caller, also where callers share what one replica holds', async () => {
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

  it('keeps nothing newer of a partition from being served', async () => {
    const { replica, clock } = deployment();
    const [one, other] = [replica(), replica()];
    await readLanding(one, 'older', bob);
    clock.now += SECOND;
    await readLanding(other, 'newer', carol);
    expect(ids(await other.tools.read(bob))).to.equal('older');
    expect(ids(await other.tools.read(bob)), 'what is held').to.equal('newer');
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

  it('is a miss where somebody has altered it, however', async () => {
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

  it('is a miss where it is longer than settings here allow, whatever it says', async () => {
    const { replica } = deployment();
    const writer = replica();
    const reading = writer.tools.read(alice);
    (await departureOf(writer.tools)).land(manyTools(200));
    await reading;
    await eventually(() => writer.puts.length === 1);
    for (const options of [{ maxValueBytes: 200 }, { maxBytes: 200 }]) {
      const one = replica(options);
      void one.tools.read(alice).catch(() => {});
      (await departureOf(one.tools)).reject(failed);
      expect(one.outcomes()).to.deep.equal(['altered']);
    }
  });

  it('is found under the secret before, and written under the current one', async () => {
    const [older, newer] = [secretOf('older'), secretOf('newer')];
    const { replica, clock } = deployment();
    await readLanding(replica({ secrets: [older] }), 'a');
    const rotating = replica({ secrets: [newer, older] });
    expect(ids(await rotating.tools.read(alice))).to.equal('a');
    clock.now += 2 * MINUTE;
    await rotating.tools.read(alice);
    (await departureOf(rotating.tools)).land([{ id: 'b' }]);
    await eventually(() => rotating.puts.length === 1);
    expect(ids(await replica({ secrets: [newer] }).tools.read(alice))).to.equal('b');
  });

  it('is nothing that is too long', async () => {
    const { replica, store } = deployment();
    for (const options of [{ maxValueBytes: 200 }, { maxBytes: 200 }]) {
      const one = replica(options);
      const reading = one.tools.read(alice);
      (await departureOf(one.tools)).land(manyTools(200));
      await reading;
      await eventually(() => one.puts.length === 1);
      expect(one.puts).to.deep.equal([{ resource: 'tools', outcome: 'too_large' }]);
      expect(store.held.size).to.equal(0);
      await eventually(async () => one.connection.calls.release === 1);
    }
  });

  it('is waited for by nobody where it was too long a while ago, and shared again later', async () => {
    const { replica, store, clock } = deployment();
    const one = replica({ maxValueBytes: 200 });
    const read = async (items: object[]) => {
      const { length } = one.tools.departures;
      const reading = one.tools.read(alice, { noCache: true });
      (await departureOf(one.tools, length)).land(items);
      return reading;
    };
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

describe('where too much is being sealed and opened', () => {
  it('a copy is not opened, what is loaded is not put, and the lease goes back', async () => {
    const { replica } = deployment();
    await readLanding(replica(), 'a');
    const full = replica({ inHand: async () => 'overloaded' });
    await readLanding(full, 'b');
    expect([full.outcomes(), full.puts]).to.deep.equal([['stale'], [{ resource: 'tools', outcome: 'overloaded' }]]);
    await eventually(() => full.connection.calls.release === 1);
  });
});

describe('one load for all replicas', () => {
  it('is waited for by those who ask meanwhile, who take what it brings', async () => {
    const world = deployment();
    const [one, other] = [world.replica(), world.replica()];
    const first = one.tools.read(alice);
    const departure = await departureOf(one.tools);
    const second = other.tools.read(alice);
    await wakeOne(world);
    departure.land([{ id: 'a' }]);
    await first;
    await eventually(() => one.puts.length === 1);
    await wakeOne(world);
    expect(ids(await second)).to.equal('a');
    expect([other.outcomes(), other.tools.departures]).to.deep.equal([['hit'], []]);
    expect(other.connection.calls.release + one.connection.calls.release).to.be.at.most(1);
  });

  it('is made by another where it has failed', async () => {
    const world = deployment();
    const [one, other] = [world.replica(), world.replica()];
    const first = errorOf(one.tools.read(alice));
    const departure = await departureOf(one.tools);
    const second = other.tools.read(alice);
    await eventually(() => world.sleeping.length === 1);
    departure.reject(failed);
    expect(await first).to.equal(failed);
    await wakeOne(world);
    (await departureOf(other.tools)).land([{ id: 'b' }]);
    expect(ids(await second)).to.equal('b');
  });

  it('is made by another where its replica is gone, as soon as the lease is over', async () => {
    const world = deployment();
    const [gone, other] = [world.replica({ leaseMs: 300 }), world.replica({ leaseMs: 300 })];
    void gone.tools.read(alice).catch(() => {});
    await departureOf(gone.tools);
    const began = world.clock.now;
    const reading = other.tools.read(alice);
    while (other.tools.departures.length === 0) await wakeOne(world);
    expect(world.clock.now - began).to.be.within(300, 400);
    other.tools.departures[0]?.land([{ id: 'b' }]);
    expect(ids(await reading)).to.equal('b');
  });

  it('is waited for no longer than settings say', async () => {
    const world = deployment();
    const [slow, other] = [world.replica(), world.replica({ waitMs: 500 })];
    void slow.tools.read(alice).catch(() => {});
    await departureOf(slow.tools);
    const began = world.clock.now;
    const reading = other.tools.read(alice);
    while (other.tools.departures.length === 0) await wakeOne(world);
    expect(world.clock.now - began).to.equal(500);
    other.tools.departures[0]?.land([{ id: 'b' }]);
    expect(ids(await reading)).to.equal('b');
    await eventually(() => other.puts.length === 1);
    expect(other.puts, 'without a lease').to.deep.equal([{ resource: 'tools', outcome: 'stored' }]);
  });

  it('is waited for by one read now and then where waiting was in vain for a while', async () => {
    const world = deployment();
    const [slow, other] = [world.replica({ leaseMs: 1_000_000_000 }), world.replica({ waitMs: 500 })];
    const callers = Array.from({ length: 12 }, (_, count) => callerOf(`caller ${count}`));
    for (const [count, caller] of callers.entries()) {
      void slow.tools.read(caller).catch(() => {});
      await departureOf(slow.tools, count);
    }
    /** How long a read of this caller waits until it loads. */
    const waited = async (count: number) => {
      const began = world.clock.now;
      const reading = other.tools.read(callers[count] as Caller);
      const departed = departureOf(other.tools, count);
      while (other.tools.departures.length === count) {
        if (world.sleeping.length > 0) await wakeOne(world);
        else await settle();
      }
      (await departed).land([{ id: 'b' }]);
      await reading;
      return world.clock.now - began;
    };
    for (let count = 0; count < 8; count += 1) expect(await waited(count)).to.equal(500);
    expect(await waited(8)).to.equal(0);
    world.clock.now += 10_000;
    expect(await waited(9), 'one tries').to.equal(500);
    expect(await waited(10)).to.equal(0);
  });

  it('is waited for by a refresh as long as the lease lasts, and by no reader', async () => {
    const world = deployment();
    const [one, other] = [world.replica(), world.replica({ waitMs: 10 })];
    await readLanding(one, 'a');
    await other.tools.read(alice);
    world.clock.now += 2 * MINUTE;
    await one.tools.read(alice);
    const departure = await departureOf(one.tools, 1);
    await other.tools.read(alice);
    for (let times = 0; times < 5; times += 1) await wakeOne(world);
    departure.land([{ id: 'b' }]);
    await eventually(() => one.puts.length === 2);
    await wakeOne(world);
    await eventually(async () => ids(await other.tools.read(alice)) === 'b');
    expect(other.tools.departures).to.deep.equal([]);
  });

  it('is not waited for by a reader who hangs up, and whose lease goes back', async () => {
    const world = deployment();
    const [one, other, third] = [world.replica(), world.replica(), world.replica()];
    const leaving = new AbortController();
    void one.tools.read(alice, { signal: leaving.signal }).catch(() => {});
    await departureOf(one.tools);
    const waiting = new AbortController();
    const gone = errorOf(other.tools.read(alice, { signal: waiting.signal }));
    await eventually(() => world.sleeping.length === 1);
    waiting.abort(new Error('hung up'));
    expect(await gone).to.be.an('error');
    leaving.abort(new Error('hung up, too'));
    await eventually(() => one.connection.calls.release === 1);
    await readLanding(third, 'c');
    expect(third.outcomes()).to.deep.equal(['miss']);
    expect(other.tools.departures).to.deep.equal([]);
  });
});

describe('a lease', () => {
  it('that comes after another replica has put its load leads to no load', async () => {
    const { replica } = deployment();
    const [one, other] = [replica(), replica()];
    const { lease } = other.connection;
    Object.assign(other.connection, {
      async lease(...asked: Parameters<typeof lease>) {
        await readLanding(one, 'a');
        return lease(...asked);
      },
    });
    expect(ids(await other.tools.read(alice))).to.equal('a');
    expect([other.tools.departures, other.outcomes()]).to.deep.equal([[], ['hit']]);
    await eventually(() => other.connection.calls.release === 1);
  });

  it('goes back where its reader hangs up before the load begins', async () => {
    const { replica } = deployment();
    const one = replica();
    const leaving = new AbortController();
    const { look } = one.connection;
    Object.assign(one.connection, {
      async look(name: string) {
        if (one.connection.calls.lease === 1) leaving.abort(new Error('hung up'));
        return look(name);
      },
    });
    expect(await errorOf(one.tools.read(alice, { signal: leaving.signal }))).to.include({ message: 'hung up' });
    await eventually(() => one.connection.calls.release === 1);
    expect(one.tools.departures).to.deep.equal([]);
  });
});

describe('a second level that cannot be asked', () => {
  it('is as if there were none', async () => {
    const { replica } = deployment();
    const one = replica();
    one.connection.cut();
    const reading = one.tools.read(alice);
    (await departureOf(one.tools)).land([{ id: 'a' }]);
    expect((await reading).cached).to.include({ forwarded: 'miss', stored: true });
    await settle();
    expect([one.outcomes(), one.puts, one.connection.calls.lease]).to.deep.equal([['unavailable'], [], 0]);
    expect((await one.tools.read(alice)).cached).to.not.have.property('forwarded');
  });

  it('delays no load that it might have been asked for a lease for', async () => {
    const { replica } = deployment();
    const one = replica();
    Object.assign(one.connection, { lease: async () => undefined });
    await readLanding(one, 'a');
    expect(one.puts).to.deep.equal([{ resource: 'tools', outcome: 'stored' }]);
  });

  it('is told as refusing what is put', async () => {
    const { replica } = deployment();
    const one = replica();
    const reading = one.tools.read(alice);
    const departure = await departureOf(one.tools);
    one.connection.cut();
    departure.land([{ id: 'a' }]);
    await reading;
    await eventually(() => one.puts.length === 1);
    expect(one.puts).to.deep.equal([{ resource: 'tools', outcome: 'refused' }]);
  });

  it('is a bug where it throws, and no error of a read', async () => {
    const { replica } = deployment();
    const one = replica();
    Object.assign(one.connection, { put: () => Promise.reject(new Error('a bug of the test')) });
    const reading = one.tools.read(alice);
    (await departureOf(one.tools)).land([{ id: 'a' }]);
    expect(ids(await reading)).to.equal('a');
    await eventually(() => one.bugs.length === 1);
    expect(JSON.stringify(one.bugs)).to.contain('a bug of the test');
  });
});

describe('an eviction', () => {
  const denials = [
    ['credential_rejected', ['tools', 'workflows']],
    ['access_denied', ['tools']],
  ] as const;
  for (const [code, gone] of denials) {
    it(`by ${code} lets go of ${gone.join(' and ')} on all replicas`, async () => {
      const { replica, clock } = deployment();
      const [one, other] = [replica(), replica()];
      for (const resource of ['workflows', 'tools'] as const) {
        const reading = one[resource].read(alice);
        (await departureOf(one[resource])).land([{ id: resource }]);
        await reading;
      }
      await eventually(() => one.puts.length === 2);
      await other.tools.read(alice);
      await other.workflows.read(alice);
      expect(other.cache.entries).to.equal(2);
      clock.now += 10 * SECOND;
      const denied = errorOf(one.tools.read(alice, { noCache: true }));
      (await departureOf(one.tools, 1)).reject(new GatewayError(code));
      expect(await denied).to.include({ code });
      await settle();
      expect(other.cache.entries).to.equal(2 - gone.length);
      const third = replica();
      for (const resource of gone) {
        void third[resource].read(alice).catch(() => {});
        expect(await departureOf(third[resource])).to.have.property('caller');
      }
      if (gone.length === 1) expect(ids(await third.workflows.read(alice))).to.equal('workflows');
    });
  }

  it('by a 401 of what is never stored lets go of the others', async () => {
    const { replica, store } = deployment();
    const one = replica();
    await readLanding(one, 'a');
    const denied = errorOf(one.projects.read(alice));
    (await departureOf(one.projects)).reject(new GatewayError('credential_rejected'));
    await denied;
    expect(store.held.size).to.equal(0);
    const forbidden = errorOf(one.projects.read(alice));
    (await departureOf(one.projects, 1)).reject(new GatewayError('access_denied'));
    await forbidden;
    expect(one.connection.calls.evict, 'projects are not there').to.equal(1);
  });

  it('keeps loads that began before it from being put, and from being held by any replica', async () => {
    const { replica, clock, store } = deployment();
    const [one, other] = [replica(), replica()];
    const early = one.tools.read(alice);
    const departure = await departureOf(one.tools);
    clock.now += SECOND;
    const denied = errorOf(other.projects.read(alice));
    (await departureOf(other.projects)).reject(new GatewayError('credential_rejected'));
    await denied;
    departure.land([{ id: 'too early' }]);
    await early;
    await eventually(() => one.puts.length === 1);
    expect(one.puts).to.deep.equal([{ resource: 'tools', outcome: 'refused' }]);
    expect([store.held.size, one.cache.entries]).to.deep.equal([0, 0]);
  });

  it('holds against what somebody has put back, on every replica that knows of it', async () => {
    const { replica, clock, store } = deployment();
    const [one, other] = [replica(), replica()];
    await readLanding(one, 'a');
    const [[name, bytes] = ['', Buffer.of()]] = store.held;
    clock.now += SECOND;
    const denied = errorOf(one.projects.read(alice));
    (await departureOf(one.projects)).reject(new GatewayError('credential_rejected'));
    await denied;
    clock.now += SECOND;
    store.tamper(name, bytes);
    for (const replicaThatKnows of [one, other]) {
      const { tools } = replicaThatKnows;
      const loads = tools.departures.length;
      void tools.read(alice).catch(() => {});
      await departureOf(tools, loads);
      tools.departures[loads]?.reject(failed);
    }
  });

  it('of one caller of a partition lets go of nothing of the others', async () => {
    const { replica } = deployment();
    const [one, other] = [replica(), replica()];
    await readLanding(one, 'of bob', bob);
    await readLanding(one, 'of carol', carol);
    await other.tools.read(bob);
    await other.tools.read(carol);
    const denied = errorOf(one.projects.read(bob));
    (await departureOf(one.projects)).reject(new GatewayError('credential_rejected'));
    await denied;
    expect(other.cache.admittedAt('tools', bob)).to.equal(Number.NEGATIVE_INFINITY);
    expect((await other.tools.read(carol)).cached).to.not.have.property('forwarded');
    expect(ids(await replica().tools.read(carol))).to.equal('of carol');
  });

  it('is one of names under both secrets', async () => {
    const [older, newer] = [secretOf('older'), secretOf('newer')];
    const { replica } = deployment();
    const [before, after] = [replica({ secrets: [older, newer] }), replica({ secrets: [newer, older] })];
    await readLanding(before, 'a');
    await after.tools.read(alice);
    const denied = errorOf(before.projects.read(alice));
    (await departureOf(before.projects)).reject(new GatewayError('credential_rejected'));
    await denied;
    expect(after.cache.entries).to.equal(0);
  });

  it('lets go of what was put under either secret', async () => {
    const [older, newer] = [secretOf('older'), secretOf('newer')];
    const { replica, store } = deployment();
    const [before, after] = [replica({ secrets: [older, newer] }), replica({ secrets: [newer] })];
    await readLanding(before, 'a');
    await readLanding(after, 'a');
    expect(store.held.size).to.equal(2);
    const denied = errorOf(before.projects.read(alice));
    (await departureOf(before.projects)).reject(new GatewayError('credential_rejected'));
    await denied;
    expect([store.held.size, after.cache.entries]).to.deep.equal([0, 0]);
  });

  it('that may have been missed lets go of all that is shared', async () => {
    const { replica } = deployment();
    const one = replica();
    await readLanding(one, 'a');
    await readLanding(one, 'b', bob);
    one.connection.cut();
    one.connection.mend({ missed: false });
    expect(one.cache.entries).to.equal(2);
    one.connection.mend();
    await eventually(() => one.cache.entries === 1);
    expect(one.cache.admittedAt('tools', bob), 'nobody is served what the partition holds').to.equal(
      Number.NEGATIVE_INFINITY,
    );
  });

  it('is heard of no more once the level is closed', async () => {
    const { replica } = deployment();
    const [one, other] = [replica(), replica()];
    await readLanding(one, 'a');
    await other.tools.read(alice);
    other.level.close();
    one.level.evict('https://platform.example.com', ['tools'], alice);
    expect(other.cache.entries).to.equal(1);
  });

  it('of many made-up tokens costs nobody else what is held', async () => {
    const { replica } = deployment();
    const one = replica({ maxNames: 3 });
    await readLanding(one, 'a');
    for (let index = 0; index < 10; index += 1) {
      const denied = errorOf(one.tools.read(callerOf(`made up ${index}`)));
      (await departureOf(one.tools, index + 1)).reject(new GatewayError('credential_rejected'));
      await denied;
    }
    expect((await one.tools.read(alice)).cached).to.not.have.property('forwarded');
    expect(one.tools.departures).to.have.length(11);
  });

  it('lets go of what is not followed any more, so that there is nothing that it would miss', async () => {
    const { replica } = deployment();
    const one = replica({ maxNames: 1 });
    await readLanding(one, 'a');
    await readLanding(one, 'b', callerOf('dave'));
    expect(one.cache.entries).to.equal(1);
    expect(one.cache.get('tools', alice)).to.equal(undefined);
  });
});
