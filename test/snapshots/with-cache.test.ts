import { expect } from 'chai';
import type { Caller } from '../../src/kernel/caller.ts';
import { GatewayError } from '../../src/kernel/errors.ts';
import type { Events } from '../../src/observability/events.ts';
import { createSnapshotCache } from '../../src/snapshots/cache.ts';
import { cacheOutcome, type Load } from '../../src/snapshots/load.ts';
import { withCache } from '../../src/snapshots/with-cache.ts';
import { callerOf, createTower, errorOf, never, roomy, settle, text } from './departures.ts';

const LIFETIME = { ttlMs: 60_000, staleWhileRevalidateMs: 300_000, staleIfErrorMs: 3_600_000, minRefreshMs: 5000 };
const SECOND = 1000;
const MINUTE = 60_000;
const failed = new GatewayError('upstream_failed', { upstreamStatus: 503 });

/** The three resources of one upstream behind one cache, and a clock. */
function house({ maxBytes = 1_000_000, lifetime = LIFETIME } = {}) {
  const clock = { now: 1_800_000_000_000 };
  const now = () => clock.now;
  const told: [string, unknown][] = [];
  const events: Events = {
    readEnded: (event) => told.push(['read', event]),
    snapshotStored: (event) => told.push(['stored', event]),
    flightJoined: (event) => told.push(['joined', event]),
    snapshotEvicted: (event) => told.push(['evicted', event]),
    refreshFailed: (event) => told.push(['refreshFailed', event]),
  };
  const cache = createSnapshotCache({ maxBytes, maxEntries: 100 });
  const of = (resource: string) => {
    const { load, departures } = createTower(now);
    const options = { resource, siblings: ['projects', 'workflows', 'tools'], cache, waiting: roomy(), events, now };
    const source = withCache(load, { ...options, lifetime: resource === 'projects' ? undefined : lifetime });
    const read = (caller: Caller, signal = never, { noCache = false } = {}) => source(caller, { signal, noCache });
    return { read, source, departures };
  };
  return { clock, cache, told, projects: of('projects'), workflows: of('workflows'), tools: of('tools') };
}

type Resource = ReturnType<typeof house>['tools'];

/** Reads once, and has the upstream answer with one item of this id. */
async function readLanding({ read, departures }: Resource, id: string, caller = alice): Promise<Load> {
  const reading = read(caller);
  departures.at(-1)?.land([{ id }]);
  return reading;
}

/** Reads once, and has the upstream's load reject. */
async function readRejecting({ read, departures }: Resource, error: unknown, noCache = false): Promise<Load> {
  const reading = read(alice, never, { noCache });
  departures.at(-1)?.reject(error);
  return reading;
}

async function readRejectingAs(caller: Caller, { read, departures }: Resource, error: unknown): Promise<Load> {
  const reading = read(caller);
  departures.at(-1)?.reject(error);
  return reading;
}

const alice = callerOf('alice');
const bob = callerOf('bob');

describe('a snapshot', () => {
  it('is stored by the read that missed it, and serves the next ones', async () => {
    const { tools, clock } = house();
    const first = await readLanding(tools, 'a');
    expect(first.cached).to.include({ forwarded: 'miss', stored: true, freshUntil: clock.now + 60 * SECOND });
    clock.now += 59 * SECOND;
    const next = await tools.read(alice);
    expect(next.snapshot).to.equal(first.snapshot);
    expect(next.cached).to.include({ stored: false }).and.not.have.property('forwarded');
    expect(next.upstreamMs).to.equal(0);
    expect(tools.departures).to.have.length(1);
  });

  it('is given at once, and as the very same object each time', async () => {
    const { tools } = house();
    await readLanding(tools, 'a');
    const asked = {
      get signal(): AbortSignal {
        return expect.fail('nobody need wait');
      },
    };
    const hit = tools.source(alice, asked);
    expect(hit).to.have.property('snapshot');
    expect(tools.source(alice, asked)).to.equal(hit);
  });

  it('is looked up once by a read that misses it, whose load is told what is held', async () => {
    const { tools, cache, clock } = house();
    const { get } = cache;
    let lookups = 0;
    Object.assign(cache, {
      get: (...asked: Parameters<typeof get>) => {
        lookups += 1;
        return get(...asked);
      },
    });
    const { snapshot } = await readLanding(tools, 'old');
    expect(lookups).to.equal(1);
    clock.now += 10 * MINUTE;
    await readLanding(tools, 'new');
    expect(lookups).to.equal(2);
    expect(tools.departures.map(({ options }) => options?.known?.snapshot)).to.deep.equal([undefined, snapshot]);
  });

  it('tells its events', async () => {
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

  it('tells of each read once, however it ended, of resources that are not stored too', async () => {
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

  it('is of one caller, and of one resource', async () => {
    const { tools, workflows } = house();
    await readLanding(tools, 'tool of alice');
    expect(text(await readLanding(tools, 'tool of bob', bob))).to.contain('tool of bob');
    expect(text(await readLanding(workflows, 'workflow of alice'))).to.contain('workflow of alice');
    expect(text(await tools.read(alice))).to.contain('tool of alice');
  });

  it('of projects is never stored, and shared by those who read at once', async () => {
    const { projects, cache } = house();
    const readings = [projects.read(alice), projects.read(alice)];
    projects.departures[0]?.land();
    const [first, second] = await Promise.all(readings);
    expect(first).to.not.have.any.keys('cached', 'collapsed');
    expect(second?.collapsed).to.equal(true);
    expect(cache.entries).to.equal(0);
    expect(text(await readLanding(projects, 'later'))).to.contain('later');
  });

  it('is not stored either where ttlMs is 0', async () => {
    const { tools, cache } = house({ lifetime: { ...LIFETIME, ttlMs: 0 } });
    expect(await readLanding(tools, 'a')).to.not.have.property('cached');
    expect(cache.entries).to.equal(0);
  });

  it('says that it is not stored where it is too large', async () => {
    const { tools } = house({ maxBytes: 3000 });
    expect((await readLanding(tools, 'x'.repeat(2000))).cached).to.include({ forwarded: 'miss', stored: false });
  });
});

describe('a snapshot past its freshness', () => {
  it('is served at once, and refreshed once behind the reads', async () => {
    const { tools, clock, told } = house();
    await readLanding(tools, 'old');
    clock.now += 60 * SECOND;
    for (let reads = 0; reads < 3; reads += 1) expect(text(await tools.read(alice))).to.contain('old');
    expect(tools.departures).to.have.length(2);
    // None but the first read has to do with it.
    expect(told.map(([name]) => name)).to.deep.equal(['stored', 'read', 'read', 'read', 'read']);
    tools.departures[1]?.land([{ id: 'new' }]);
    await settle();
    expect(text(await tools.read(alice))).to.contain('new');
    expect(tools.departures).to.have.length(2);
  });

  it('is refreshed by one load at a time, which does not end with the readers whom it serves', async () => {
    const { tools, clock } = house();
    await readLanding(tools, 'old');
    clock.now += 60 * SECOND;
    const caller = new AbortController();
    await tools.read(alice, caller.signal);
    caller.abort();
    await settle();
    expect(tools.departures[1]?.signal.aborted).to.equal(false);
    // Who wants the upstream to be asked joins it, and leaves it under way.
    const other = new AbortController();
    const reading = errorOf(tools.read(alice, other.signal, { noCache: true }));
    other.abort();
    await reading;
    expect(tools.departures).to.have.length(2);
    expect(tools.departures[1]?.signal.aborted).to.equal(false);
    for (let reads = 0; reads < 3; reads += 1) await tools.read(alice);
    tools.departures[1]?.land([{ id: 'new' }]);
    await settle();
    expect(text(await tools.read(alice))).to.contain('new');
    expect(tools.departures).to.have.length(2);
  });

  it('stays where the refresh fails, of which an event tells; the next read tries again', async () => {
    const { tools, clock, told } = house();
    await readLanding(tools, 'old');
    clock.now += 60 * SECOND;
    const errors = [new GatewayError('upstream_invalid'), new TypeError('a bug'), 'thrown'];
    for (const error of errors) {
      expect(text(await tools.read(alice))).to.contain('old');
      tools.departures.at(-1)?.reject(error);
      await settle();
    }
    expect(tools.departures).to.have.length(4);
    expect(told.filter(([name]) => name === 'refreshFailed')).to.deep.equal(
      errors.map((error) => ['refreshFailed', { requestId: alice.requestId, resource: 'tools', error }]),
    );
  });

  it('is loaded again before it is served once that time is over, too', async () => {
    const { tools, clock } = house();
    await readLanding(tools, 'old');
    clock.now += 6 * MINUTE;
    const load = await readLanding(tools, 'new');
    expect(text(load)).to.contain('new');
    expect(load.cached).to.include({ forwarded: 'stale', stored: true });
  });

  for (const error of [
    failed,
    new GatewayError('upstream_refused', { upstreamStatus: 400 }),
    new GatewayError('upstream_rate_limited'),
    new GatewayError('upstream_invalid'),
    new GatewayError('upstream_timeout'),
    new GatewayError('breaker_open'),
    new GatewayError('overloaded'),
  ]) {
    it(`stands in for a fault of the platform: ${error.code} ${error.upstreamStatus ?? ''}`, async () => {
      const { tools, clock } = house();
      await readLanding(tools, 'old');
      clock.now += 61 * MINUTE - 1;
      const load = await readRejecting(tools, error);
      expect(text(load)).to.contain('old');
      expect(load.cached).to.include({ forwarded: 'stale', stored: false, error });
    });
  }

  for (const error of [
    new GatewayError('credential_rejected', { upstreamStatus: 401 }),
    new GatewayError('access_denied', { upstreamStatus: 403 }),
    new GatewayError('upstream_credential_rejected', { upstreamStatus: 403 }),
    new GatewayError('upstream_refused', { upstreamStatus: 404 }),
    new GatewayError('upstream_refused', { upstreamStatus: 410 }),
    new GatewayError('upstream_refused', { upstreamStatus: 451 }),
    new GatewayError('draining'),
    new TypeError('a bug'),
  ]) {
    it(`does not stand in for an error that is no fault of the platform: ${error.message} ${'upstreamStatus' in error ? error.upstreamStatus : ''}`, async () => {
      const { tools, clock } = house();
      await readLanding(tools, 'old');
      clock.now += 10 * MINUTE;
      expect(await errorOf(readRejecting(tools, error))).to.equal(error);
    });
  }

  it('is not served after its last hour', async () => {
    const { tools, clock } = house();
    await readLanding(tools, 'old');
    clock.now += 61 * MINUTE;
    expect(await errorOf(readRejecting(tools, failed))).to.equal(failed);
    expect((await readLanding(tools, 'new')).cached, 'as if there were none').to.include({ forwarded: 'miss' });
  });

  it('is not served where it was evicted while the upstream failed', async () => {
    const { tools, projects, clock } = house();
    await readLanding(tools, 'old');
    clock.now += 10 * MINUTE;
    const reading = errorOf(tools.read(alice));
    await errorOf(readRejecting(projects, new GatewayError('credential_rejected')));
    tools.departures.at(-1)?.reject(failed);
    expect(await reading).to.equal(failed);
  });

  it('is not served after the clock was set back', async () => {
    const { tools, clock } = house();
    await readLanding(tools, 'from the future');
    clock.now -= 1;
    expect(text(await readLanding(tools, 'now'))).to.contain('now');
  });
});

describe('Cache-Control: no-cache', () => {
  it('loads again what is older than minRefreshMs', async () => {
    const { tools, clock } = house();
    await readLanding(tools, 'old');
    clock.now += 5 * SECOND;
    expect(text(await tools.read(alice, never, { noCache: true }))).to.contain('old');
    clock.now += 1;
    const reading = tools.read(alice, never, { noCache: true });
    tools.departures[1]?.land([{ id: 'new' }]);
    const load = await reading;
    expect(text(load)).to.contain('new');
    expect(load.cached).to.include({ forwarded: 'request', stored: true });
  });

  it('is given the error rather than what is held, fresh or stale', async () => {
    const { tools, clock } = house();
    await readLanding(tools, 'old');
    for (const age of [6 * SECOND, 2 * MINUTE, 10 * MINUTE]) {
      clock.now += age;
      expect(await errorOf(readRejecting(tools, failed, true))).to.equal(failed);
    }
  });
});

describe('what an upstream denies', () => {
  it('to Portico itself is evicted for nobody, since that says nothing of the caller', async () => {
    const { tools, workflows, projects, cache, told } = house();
    await readLanding(tools, 'a');
    await readLanding(workflows, 'a');
    await readLanding(tools, 'b', bob);
    await errorOf(readRejecting(projects, new GatewayError('upstream_credential_rejected', { upstreamStatus: 401 })));
    expect(cache.entries).to.equal(3);
    expect(text(await tools.read(alice))).to.contain('a');
    expect(text(await tools.read(bob))).to.contain('b');
    expect(told.filter(([name]) => name === 'evicted')).to.deep.equal([]);
  });

  it('with a 401 is evicted for all of that upstream, for that caller alone', async () => {
    const { tools, workflows, projects, cache, told } = house();
    await readLanding(tools, 'a');
    await readLanding(workflows, 'a');
    await readLanding(tools, 'b', bob);
    await errorOf(readRejecting(projects, new GatewayError('credential_rejected')));
    expect(cache.entries).to.equal(1);
    expect(text(await tools.read(bob))).to.contain('b');
    expect(told.filter(([name]) => name === 'evicted')).to.deep.equal(
      ['projects', 'workflows', 'tools'].map((resource) => [
        'evicted',
        { requestId: alice.requestId, resource, code: 'credential_rejected' },
      ]),
    );
  });

  it('with a 403 is evicted for that resource alone', async () => {
    const { tools, workflows, cache, clock } = house();
    await readLanding(tools, 'a');
    await readLanding(workflows, 'a');
    clock.now += 10 * MINUTE;
    await errorOf(readRejecting(tools, new GatewayError('access_denied')));
    expect(cache.entries).to.equal(1);
  });

  it('is not stored again by a load that began before', async () => {
    const { tools, projects, cache } = house();
    const slow = tools.read(alice);
    await errorOf(readRejecting(projects, new GatewayError('credential_rejected')));
    tools.departures[0]?.land([{ id: 'slow' }]);
    expect((await slow).cached).to.include({ forwarded: 'miss', stored: false });
    expect(cache).to.include({ entries: 0, loading: 0 });
    expect((await readLanding(tools, 'new')).cached).to.include({ stored: true });
  });

  it('is denied behind a stale answer, too', async () => {
    const { tools, clock, cache } = house();
    await readLanding(tools, 'old');
    clock.now += 2 * MINUTE;
    await tools.read(alice);
    tools.departures[1]?.reject(new GatewayError('access_denied'));
    await settle();
    expect(cache.entries).to.equal(0);
  });
});

describe('a token that ends', () => {
  it('ends its snapshots with it, and shortens their freshness', async () => {
    const { tools, clock } = house();
    const caller = callerOf('alice', { expiresAt: clock.now + 10 * SECOND });
    expect((await readLanding(tools, 'a', caller)).cached).to.include({ freshUntil: caller.expiresAt, stored: true });
    clock.now += 10 * SECOND - 1;
    expect((await tools.read(caller)).cached).to.include({ freshUntil: caller.expiresAt });
    clock.now += 1;
    const reading = tools.read(caller);
    tools.departures[1]?.reject(failed);
    expect(await errorOf(reading)).to.equal(failed);
  });

  it('shortens it for its own readers alone, whoever began the load', async () => {
    const { tools, clock } = house();
    const ending = callerOf('alice', { expiresAt: clock.now + 10 * SECOND });
    const readings = [tools.read(alice), tools.read(ending), tools.read(alice)];
    tools.departures[0]?.land([{ id: 'a' }]);
    const ends = (await Promise.all(readings)).map(({ cached }) => cached?.freshUntil);
    expect(ends).to.deep.equal([clock.now + 60 * SECOND, ending.expiresAt, clock.now + 60 * SECOND]);
    expect(tools.departures).to.have.length(1);
  });

  it('stores nothing once it has ended, though the upstream takes it', async () => {
    const { tools, clock, cache } = house();
    const load = await readLanding(tools, 'a', callerOf('alice', { expiresAt: clock.now }));
    expect(load.cached).to.include({ stored: false });
    expect(cache.entries).to.equal(0);
  });
});

describe('a partition that several credentials share', () => {
  const bob = callerOf('bob', { partition: 'tenant' });
  const carol = callerOf('carol', { partition: 'tenant' });
  const rejected = new GatewayError('credential_rejected', { upstreamStatus: 401 });
  const denied = new GatewayError('access_denied', { upstreamStatus: 403 });

  it('serves nobody whom the upstream has not given the list itself', async () => {
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

  it('shares no flight', async () => {
    const { tools } = house();
    const readings = [tools.read(bob), tools.read(carol)];
    expect(tools.departures.map(({ caller }) => caller)).to.deep.equal([bob, carol]);
    tools.departures[0]?.reject(rejected);
    tools.departures[1]?.land([{ id: 'of carol' }]);
    expect(await errorOf(readings[0])).to.equal(rejected);
    expect(text(await (readings[1] as Promise<Load>))).to.contain('of carol');
  });

  for (const error of [rejected, denied]) {
    it(`goes on serving the others where the upstream says ${error.upstreamStatus} to one`, async () => {
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

  it('ends for one with a 401 to another list of that upstream', async () => {
    const { tools, projects } = house();
    await readLanding(tools, 'by bob', bob);
    await readLanding(tools, 'by carol', carol);
    await errorOf(readRejectingAs(bob, projects, rejected));
    expect(text(await tools.read(carol))).to.contain('by carol');
    await errorOf(readRejectingAs(bob, tools, rejected));
    expect(tools.departures).to.have.length(3);
  });

  it('serves each no longer than the list that it was given itself', async () => {
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

describe('what the cache had to do with a read', () => {
  it('is one word', async () => {
    const { tools, projects, clock } = house();
    const outcome = (load: Load) => cacheOutcome(load, clock.now);
    expect(outcome(await readLanding(projects, 'a'))).to.equal('bypass');
    expect(outcome(await readLanding(tools, 'a'))).to.equal('miss');
    expect(outcome(await tools.read(alice))).to.equal('hit');
    clock.now += 10 * SECOND;
    const refreshed = tools.read(alice, never, { noCache: true });
    const joined = tools.read(alice, never, { noCache: true });
    tools.departures.at(-1)?.land([{ id: 'b' }]);
    expect(outcome(await refreshed)).to.equal('refreshed');
    expect(outcome(await joined)).to.equal('collapsed');
    clock.now += 2 * MINUTE;
    expect(outcome(await tools.read(alice))).to.equal('stale');
    tools.departures.at(-1)?.reject(failed);
    await settle();
    clock.now += 10 * MINUTE;
    expect(outcome(await readRejecting(tools, failed))).to.equal('stale');
    expect(outcome(await readLanding(tools, 'c'))).to.equal('refreshed');
  });
});
