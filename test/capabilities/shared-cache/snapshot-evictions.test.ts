import { expect } from 'chai';
import { GatewayError } from '../../../src/core/kernel/errors.ts';
import { settle } from '../../core/reads/snapshots/departures.ts';
import { eventually } from '../../support/eventually.ts';
import {
  alice,
  departureOf,
  deployment,
  failed,
  ids,
  readAnswered,
  readLanding,
  readRefused,
  rejected,
  SECOND,
} from './deployment.ts';

describe('an eviction', () => {
  const denials = [
    ['credential_rejected', ['tools', 'workflows']],
    ['access_denied', ['tools']],
  ] as const;
  for (const [code, gone] of denials) {
    it(`by ${code} evicts ${gone.join(' and ')} on all replicas`, async () => {
      const { replica, clock } = deployment();
      const [one, other] = [replica(), replica()];
      for (const resource of ['workflows', 'tools'] as const) {
        await readAnswered(one[resource], [{ id: resource }]);
      }
      await eventually(() => one.puts.length === 2);
      await other.tools.read(alice);
      await other.workflows.read(alice);
      expect(other.cache.entries).to.equal(2);
      clock.now += 10 * SECOND;
      expect(await readRefused(one.tools, new GatewayError(code), alice, { noCache: true })).to.include({ code });
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
