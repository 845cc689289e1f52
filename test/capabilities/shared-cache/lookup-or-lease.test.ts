import { expect } from 'chai';
import { errorOf, settle } from '../../core/reads/snapshots/departures.ts';
import { eventually } from '../../support/eventually.ts';
import { alice, departureOf, deployment, failed, ids, MINUTE, readLanding, wakeOne } from './deployment.ts';

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
    await settle();
    expect([other.puts, other.connection.calls.put], 'stored by the holder of the lease only').to.deep.equal([[], 0]);
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
    const reading = one.tools.read(alice);
    (await departureOf(one.tools)).land([{ id: 'a' }]);
    expect(ids(await reading)).to.equal('a');
    expect(one.puts).to.deep.equal([]);
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
