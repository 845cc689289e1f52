import { expect } from 'chai';
import fc from 'fast-check';
import { nextStep, pauseMs } from '../../../src/capabilities/shared-cache/lookup-or-lease.ts';
import { errorOf, settle } from '../../core/reads/snapshots/departures.ts';
import { eventually } from '../../support/eventually.ts';
import { SEEDED } from '../../support/seed.ts';
import { alice, departureOf, deployment, ids, readAnswered, wakeOne } from './deployment.ts';

describe('one load for all replicas', () => {
  it('is served to reads of other replicas that wait for it', async () => {
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

  it('is made by another replica when the lease of one that is gone expires', async () => {
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

  it('delays a read by waitMs at most', async () => {
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
    await settle();
    expect([other.puts, other.connection.calls.put], 'stored by the holder of the lease only').to.deep.equal([[], 0]);
  });
});

describe('a lease', () => {
  it('is released if the caller hangs up before the load begins', async () => {
    const { replica } = deployment();
    const one = replica();
    const leaving = new AbortController();
    const { get } = one.connection;
    Object.assign(one.connection, {
      async get(name: string) {
        if (one.connection.calls.lease === 1) leaving.abort(new Error('hung up'));
        return get(name);
      },
    });
    expect(await errorOf(one.tools.read(alice, { signal: leaving.signal }))).to.include({ message: 'hung up' });
    await eventually(() => one.connection.calls.release === 1);
    expect(one.tools.departures).to.deep.equal([]);
  });
});

describe('a store that is down', () => {
  it('does not delay a load without a lease', async () => {
    const one = deployment().replica();
    Object.assign(one.connection, { lease: async () => undefined });
    expect(ids(await readAnswered(one.tools, [{ id: 'a' }]))).to.equal('a');
    expect(one.puts).to.deep.equal([]);
  });

  it('causes an internal error event if it throws, and no error of a read', async () => {
    const { replica } = deployment();
    const one = replica();
    Object.assign(one.connection, { put: () => Promise.reject(new Error('a bug of the test')) });
    expect(ids(await readAnswered(one.tools, [{ id: 'a' }]))).to.equal('a');
    await eventually(() => one.bugs.length === 1);
    expect(JSON.stringify(one.bugs)).to.contain('a bug of the test');
  });
});

describe('the pauses of a read that waits', () => {
  it(`add up to waitMs, in few steps ${SEEDED}`, () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 60_000 }), (waitMs) => {
        let waitedMs = 0;
        let times = 0;
        while (nextStep({ holder: 'other', waitedMs, waitMs }) === 'wait') {
          waitedMs += pauseMs({ holder: 'other', waitedMs, waitMs });
          times += 1;
        }
        expect(waitedMs).to.equal(waitMs);
        expect(times).to.be.at.most(40);
      }),
    );
  });
});
