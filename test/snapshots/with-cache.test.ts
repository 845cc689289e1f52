import { expect } from 'chai';
import { GatewayError } from '../../src/kernel/errors.ts';
import { createSnapshotCache } from '../../src/snapshots/cache.ts';
import type { Load } from '../../src/snapshots/load.ts';
import { withCache } from '../../src/snapshots/with-cache.ts';
import { captureLog } from '../observability/captured-log.ts';
import { callerOf, createTower, failureOf, never, settle, text } from './departures.ts';

const LIFETIME = { ttlMs: 60_000, staleWhileRevalidateMs: 300_000, staleIfErrorMs: 3_600_000, minRefreshMs: 5000 };
const SECOND = 1000;
const MINUTE = 60_000;
const failed = new GatewayError('upstream_failed', { upstreamStatus: 503 });

/** The three resources of one upstream behind one cache, and a clock. */
function house({ maxBytes = 1_000_000, lifetime = LIFETIME } = {}) {
  const clock = { now: 1_800_000_000_000 };
  const now = () => clock.now;
  const log = captureLog();
  const cache = createSnapshotCache({ maxBytes, maxEntries: 100 });
  const of = (resource: string) => {
    const { load, departures } = createTower(now);
    const options = { resource, siblings: ['projects', 'workflows', 'tools'], cache, logger: log.logger, now };
    const source = withCache(load, { ...options, lifetime: resource === 'projects' ? undefined : lifetime });
    return { read: source.load, fresh: source.fresh, departures };
  };
  return { clock, cache, log, projects: of('projects'), workflows: of('workflows'), tools: of('tools') };
}

type Resource = ReturnType<typeof house>['tools'];

/** Reads once, and has the upstream answer with one item of this id. */
async function readLanding({ read, departures }: Resource, id: string, caller = alice): Promise<Load> {
  const reading = read(caller, never);
  departures.at(-1)?.land([{ id }]);
  return reading;
}

/** Reads once, and has the upstream fail. */
function readFailing({ read, departures }: Resource, error: unknown, noCache = false): Promise<Load> {
  const reading = read(alice, never, { noCache });
  departures.at(-1)?.fail(error);
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
    const next = await tools.read(alice, never);
    expect(next.snapshot).to.equal(first.snapshot);
    expect(next.cached).to.include({ stored: false }).and.not.have.property('forwarded');
    expect(next.upstreamMs).to.equal(0);
    expect(tools.departures).to.have.length(1);
  });

  it('is of one caller, and of one resource', async () => {
    const { tools, workflows } = house();
    await readLanding(tools, 'tool of alice');
    expect(text(await readLanding(tools, 'tool of bob', bob))).to.contain('tool of bob');
    expect(text(await readLanding(workflows, 'workflow of alice'))).to.contain('workflow of alice');
    expect(text(await tools.read(alice, never))).to.contain('tool of alice');
  });

  it('of projects is never stored, and shared by those who read at once', async () => {
    const { projects, cache } = house();
    const readings = [projects.read(alice, never), projects.read(alice, never)];
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
    const { tools, clock } = house();
    await readLanding(tools, 'old');
    clock.now += 60 * SECOND;
    for (let reads = 0; reads < 3; reads += 1) expect(text(await tools.read(alice, never))).to.contain('old');
    expect(tools.departures).to.have.length(2);
    tools.departures[1]?.land([{ id: 'new' }]);
    await settle();
    expect(text(await tools.read(alice, never))).to.contain('new');
    expect(tools.departures).to.have.length(2);
  });

  it('is refreshed though the reader whom it served is gone', async () => {
    const { tools, clock } = house();
    await readLanding(tools, 'old');
    clock.now += 60 * SECOND;
    const caller = new AbortController();
    await tools.read(alice, caller.signal);
    caller.abort();
    expect(tools.departures[1]?.signal.aborted).to.equal(false);
  });

  it('stays where the refresh fails, which the log says in our words; the next read tries again', async () => {
    const { tools, clock, log } = house();
    await readLanding(tools, 'old');
    clock.now += 60 * SECOND;
    const cause = new TypeError('text of a stranger');
    for (const error of [new GatewayError('upstream_invalid', { reason: 'ours', cause }), cause, 'thrown']) {
      expect(text(await tools.read(alice, never))).to.contain('old');
      tools.departures.at(-1)?.fail(error);
      await settle();
    }
    expect(tools.departures).to.have.length(4);
    const [known, bug, odd] = log.lines();
    expect(known).to.deep.include({
      level: 'info',
      resource: 'tools',
      outcome: 'upstream_invalid',
      causes: ['TypeError'],
    });
    expect(bug).to.include({ level: 'error', outcome: 'internal', error: 'TypeError' });
    expect(odd).to.include({ level: 'error', outcome: 'internal', error: 'string' });
    expect(log.text()).not.to.contain('stranger');
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
    new GatewayError('upstream_failed', { upstreamStatus: 418 }),
    new GatewayError('upstream_rate_limited'),
    new GatewayError('upstream_invalid'),
    new GatewayError('upstream_timeout'),
    new GatewayError('breaker_open'),
    new GatewayError('overloaded'),
  ]) {
    it(`stands in for an upstream that fails: ${error.code} ${error.upstreamStatus ?? ''}`, async () => {
      const { tools, clock } = house();
      await readLanding(tools, 'old');
      clock.now += 61 * MINUTE - 1;
      const load = await readFailing(tools, error);
      expect(text(load)).to.contain('old');
      expect(load.cached).to.include({ forwarded: 'stale', stored: false, failure: error });
    });
  }

  for (const error of [
    new GatewayError('credential_rejected', { upstreamStatus: 401 }),
    new GatewayError('access_denied', { upstreamStatus: 403 }),
    new GatewayError('upstream_credential_rejected', { upstreamStatus: 403 }),
    new GatewayError('upstream_failed', { upstreamStatus: 404 }),
    new GatewayError('upstream_failed', { upstreamStatus: 410 }),
    new GatewayError('draining'),
    new TypeError('a bug'),
  ]) {
    it(`does not stand in for what is no outage: ${error.message} ${'upstreamStatus' in error ? error.upstreamStatus : ''}`, async () => {
      const { tools, clock } = house();
      await readLanding(tools, 'old');
      clock.now += 10 * MINUTE;
      expect(await failureOf(readFailing(tools, error))).to.equal(error);
    });
  }

  it('is not served after its last hour', async () => {
    const { tools, clock } = house();
    await readLanding(tools, 'old');
    clock.now += 61 * MINUTE;
    expect(await failureOf(readFailing(tools, failed))).to.equal(failed);
  });

  it('is not served where it was evicted while the upstream failed', async () => {
    const { tools, projects, clock } = house();
    await readLanding(tools, 'old');
    clock.now += 10 * MINUTE;
    const reading = failureOf(tools.read(alice, never));
    await failureOf(readFailing(projects, new GatewayError('credential_rejected')));
    tools.departures.at(-1)?.fail(failed);
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
      expect(await failureOf(readFailing(tools, failed, true))).to.equal(failed);
    }
  });
});

describe('what an upstream denies', () => {
  it('with a 401 is evicted for all of that upstream, for that caller alone', async () => {
    const { tools, workflows, projects, cache } = house();
    await readLanding(tools, 'a');
    await readLanding(workflows, 'a');
    await readLanding(tools, 'b', bob);
    await failureOf(readFailing(projects, new GatewayError('credential_rejected')));
    expect(cache.entries).to.equal(1);
    expect(text(await tools.read(bob, never))).to.contain('b');
  });

  it('with a 403 is evicted for that resource alone', async () => {
    const { tools, workflows, cache, clock } = house();
    await readLanding(tools, 'a');
    await readLanding(workflows, 'a');
    clock.now += 10 * MINUTE;
    await failureOf(readFailing(tools, new GatewayError('access_denied')));
    expect(cache.entries).to.equal(1);
  });

  it('is not stored again by a load that began before', async () => {
    const { tools, projects, cache } = house();
    const slow = tools.read(alice, never);
    await failureOf(readFailing(projects, new GatewayError('credential_rejected')));
    tools.departures[0]?.land([{ id: 'slow' }]);
    expect((await slow).cached).to.include({ forwarded: 'miss', stored: false });
    expect(cache).to.include({ entries: 0, loading: 0 });
    expect((await readLanding(tools, 'new')).cached).to.include({ stored: true });
  });

  it('is denied behind a stale answer, too', async () => {
    const { tools, clock, cache } = house();
    await readLanding(tools, 'old');
    clock.now += 2 * MINUTE;
    await tools.read(alice, never);
    tools.departures[1]?.fail(new GatewayError('access_denied'));
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
    expect((await tools.read(caller, never)).cached).to.include({ freshUntil: caller.expiresAt });
    clock.now += 1;
    const reading = tools.read(caller, never);
    tools.departures[1]?.fail(failed);
    expect(await failureOf(reading)).to.equal(failed);
  });

  it('stores nothing once it has ended, though the upstream takes it', async () => {
    const { tools, clock, cache } = house();
    const load = await readLanding(tools, 'a', callerOf('alice', { expiresAt: clock.now }));
    expect(load.cached).to.include({ stored: false });
    expect(cache.entries).to.equal(0);
  });
});
