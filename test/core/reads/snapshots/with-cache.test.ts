import { expect } from 'chai';
import { GatewayError } from '../../../../src/core/kernel/errors.ts';
import type { Load } from '../../../../src/core/reads/snapshots/load.ts';
import { callerOf, errorOf, never, settle, text } from './departures.ts';
import {
  alice,
  bob,
  failed,
  house,
  LIFETIME,
  MINUTE,
  readLanding,
  readRejecting,
  readRejectingAs,
  SECOND,
} from './house.ts';

describe('a snapshot', () => {
  it('is returned as the same object by each hit, without waiting', async () => {
    const { tools } = house();
    await readLanding(tools, 'a');
    const asked = {
      get signal(): AbortSignal {
        return expect.fail('nobody need wait');
      },
    };
    const hit = await tools.source(alice, asked);
    expect(hit).to.have.property('snapshot');
    expect(await tools.source(alice, asked)).to.equal(hit);
  });

  it('emits its events', async () => {
    const { tools, clock, told } = house();
    const { snapshot } = await readLanding(tools, 'a');
    await tools.read(alice);
    clock.now += 60 * SECOND;
    await tools.read(alice);
    tools.departures[1]?.land([{ id: 'a' }], { renewed: true });
    await settle();
    const bytes = snapshot.bytes.length;
    expect(told).to.deep.equal([
      ['stored', { resource: 'tools', bytes, renewed: false }],
      ['read', { resource: 'tools', cache: 'miss' }],
      ['read', { resource: 'tools', cache: 'hit' }],
      ['read', { resource: 'tools', cache: 'stale' }],
      ['stored', { resource: 'tools', bytes, renewed: true }],
    ]);
  });

  it('reports each read once, whatever its outcome, also of resources that are not stored', async () => {
    const { tools, projects, told } = house();
    const reads = () => told.filter(([name]) => name === 'read').map(([, read]) => read);
    await readRejecting(tools, failed).catch(() => {});
    await readRejecting(tools, new TypeError('a bug')).catch(() => {});
    const leaving = new AbortController();
    const left = Promise.resolve(tools.read(alice, leaving.signal)).catch(() => {});
    leaving.abort();
    await left;
    const both = [projects.read(bob), projects.read(bob)];
    projects.departures.at(-1)?.land([{ id: 'p' }]);
    await Promise.all(both);
    expect(reads()).to.have.deep.members([
      { resource: 'tools', error: 'upstream_failed' },
      { resource: 'tools', error: 'internal' },
      { resource: 'tools', error: 'cancelled' },
      { resource: 'projects', cache: 'bypass' },
      { resource: 'projects', cache: 'collapsed' },
    ]);
  });

  it('is not stored when ttlMs is 0', async () => {
    const { tools, cache } = house({ lifetime: { ...LIFETIME, ttlMs: 0 } });
    expect(await readLanding(tools, 'a')).to.not.have.property('cached');
    expect(cache.entries).to.equal(0);
  });

  it('reports that it is not stored if it is too large', async () => {
    const { tools } = house({ maxBytes: 3000 });
    expect((await readLanding(tools, 'x'.repeat(2000))).cached).to.include({ forwarded: 'miss', stored: false });
  });
});

describe('a partition that several credentials share', () => {
  const bob = callerOf('bob', { partition: 'tenant' });
  const carol = callerOf('carol', { partition: 'tenant' });
  const rejected = new GatewayError('credential_rejected', { upstreamStatus: 401 });
  const denied = new GatewayError('access_denied', { upstreamStatus: 403 });

  it('serves no caller to whom the upstream has not given the list itself', async () => {
    const { tools, clock } = house();
    await readLanding(tools, 'by bob', bob);
    clock.now += SECOND;
    const reading = tools.read(carol);
    expect(tools.departures).to.have.length(2);
    // An entity tag that the upstream gave bob says nothing of what carol may see.
    expect(tools.departures[1]?.options?.known).to.equal(undefined);
    tools.departures[1]?.land([{ id: 'by carol' }]);
    expect((await reading).collapsed).to.equal(undefined);
    for (const caller of [bob, carol]) expect(text(await tools.read(caller))).to.contain('by carol');
    expect(tools.departures).to.have.length(2);
  });

  it('shares no load in flight', async () => {
    const { tools } = house();
    const readings = [tools.read(bob), tools.read(carol)];
    expect(tools.departures.map(({ caller }) => caller)).to.deep.equal([bob, carol]);
    tools.departures[0]?.reject(rejected);
    tools.departures[1]?.land([{ id: 'of carol' }]);
    expect(await errorOf(readings[0])).to.equal(rejected);
    expect(text(await (readings[1] as Promise<Load>))).to.contain('of carol');
  });

  for (const error of [rejected, denied]) {
    it(`continues to serve the others if the upstream answers ${error.upstreamStatus} to one`, async () => {
      const { tools, clock, cache } = house();
      await readLanding(tools, 'by bob', bob);
      await readLanding(tools, 'by carol', carol);
      clock.now += 10 * SECOND;
      const refresh = tools.read(bob, never, { noCache: true });
      tools.departures.at(-1)?.reject(error);
      expect(await errorOf(refresh)).to.equal(error);
      expect(cache.entries).to.equal(1);
      expect(text(await tools.read(carol))).to.contain('by carol');
      // Bob himself is asked for again.
      const departed = tools.departures.length;
      await errorOf(readRejectingAs(bob, tools, error));
      expect(tools.departures).to.have.length(departed + 1);
    });
  }

  it('ends for one credential with a 401 to another list of that upstream', async () => {
    const { tools, projects } = house();
    await readLanding(tools, 'by bob', bob);
    await readLanding(tools, 'by carol', carol);
    await errorOf(readRejectingAs(bob, projects, rejected));
    expect(text(await tools.read(carol))).to.contain('by carol');
    await errorOf(readRejectingAs(bob, tools, rejected));
    expect(tools.departures).to.have.length(3);
  });

  it('serves each credential no longer than its own load would', async () => {
    const { tools, clock } = house();
    await readLanding(tools, 'by bob', bob);
    clock.now += 50 * SECOND;
    await readLanding(tools, 'by carol', carol);
    clock.now += 10 * SECOND;
    expect(text(await tools.read(bob))).to.contain('by carol');
    expect(tools.departures.at(-1)?.caller).to.equal(bob);
    clock.now += 6 * MINUTE;
    const reading = tools.read(bob);
    expect(reading).to.be.instanceOf(Promise);
    tools.departures.at(-1)?.land([{ id: 'new' }]);
    expect(text(await reading)).to.contain('new');
  });
});
