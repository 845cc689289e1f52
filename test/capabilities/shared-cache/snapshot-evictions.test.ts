import { expect } from 'chai';
import { GatewayError } from '../../../src/core/kernel/errors.ts';
import { eventually } from '../../support/eventually.ts';
import { alice, departureOf, deployment, failed, readLanding, readRefused, rejected, SECOND } from './deployment.ts';

describe('an eviction', () => {
  it('by a 401 to projects evicts the stored resources', async () => {
    const { replica, store } = deployment();
    const one = replica();
    await readLanding(one, 'a');
    await readRefused(one.projects, rejected);
    expect(store.held.size).to.equal(0);
    await readRefused(one.projects, new GatewayError('access_denied'));
    expect(one.connection.calls.evict, 'projects are not there').to.equal(1);
  });

  it('prevents that loads which began before it are stored, in Redis or by a replica', async () => {
    const { replica, clock, store } = deployment();
    const [one, other] = [replica(), replica()];
    const early = one.tools.read(alice);
    const departure = await departureOf(one.tools);
    clock.now += SECOND;
    await readRefused(other.projects, rejected);
    departure.land([{ id: 'too early' }]);
    await early;
    await eventually(() => one.puts.length === 1);
    expect(one.puts).to.deep.equal([{ resource: 'tools', outcome: 'refused' }]);
    expect([store.held.size, one.cache.entries]).to.deep.equal([0, 0]);
  });

  it('makes every replica refuse the same value when it is stored again', async () => {
    const { replica, clock, store } = deployment();
    const [one, other] = [replica(), replica()];
    await readLanding(one, 'a');
    const [[name, bytes] = ['', Buffer.of()]] = store.held;
    clock.now += SECOND;
    await readRefused(one.projects, rejected);
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
});
