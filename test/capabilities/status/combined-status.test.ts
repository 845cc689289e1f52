import { expect } from 'chai';
import type { Workers } from '../../../src/capabilities/capability.ts';
import { combinedStatus } from '../../../src/capabilities/status/combined-status.ts';
import type { Events } from '../../../src/core/kernel/events.ts';
import { ACME, openStatus, PAGE } from './open-status.ts';

type Work = (events: Events, later: (seconds: number) => void) => void;

/** Returns the status of workers, each after its own events, a minute after the start. */
async function combined(...workers: readonly Work[]) {
  return combinedOf(workers.length, workers);
}

async function combinedOf(count: number, workers: readonly Work[]) {
  const bodies = workers.map(async (work) => {
    let passed = 0;
    const { events, status, later } = openStatus();
    const pass = (seconds: number) => {
      passed += seconds;
      later(seconds);
    };
    work(events, pass);
    pass(60 - passed);
    return Buffer.from(JSON.stringify(await status()));
  });
  const answers = (await Promise.all(bodies)).map((body, worker) => ({ worker, body }));
  const workersOf = { ask: async () => answers, count, droppedLogLines: () => 4 } as unknown as Workers;
  return (await combinedStatus(workersOf)) ?? expect.fail('no worker has answered');
}

describe('the status of several workers', () => {
  it('has each trouble once, with its earliest beginning, and the worst level', async () => {
    const { verdict, upstreams } = await combined(
      (events, later) => {
        events.sharedStoreChanged?.({ isUp: false, why: 'closed' });
        later(20);
        events.breakerChanged?.({ ...ACME, state: 'open', calls: 1, failures: 1 });
      },
      (events, later) => {
        later(5);
        events.breakerChanged?.({ ...ACME, state: 'open', calls: 2, failures: 2 });
        events.sharedStoreChanged?.({ isUp: false, why: 'closed' });
      },
      () => {},
    );
    expect(verdict.level).to.equal('red');
    expect(verdict.troubles.map(({ text }) => text)).to.deep.equal([
      'acme: breaker open for 55 s after 2 × failure',
      'Redis: unreachable for 1 min (closed)',
    ]);
    expect(upstreams[0]).to.deep.include({ breaker: 'open' });
    expect(upstreams[0]?.opened?.failures).to.equal(2);
  });

  it('has a trouble while a worker does not answer', async () => {
    const { verdict } = await combinedOf(2, [() => {}]);
    expect(verdict.troubles.map(({ level, text }) => `${level} ${text}`)).to.deep.equal([
      'amber workers: 1 of 2 answer',
    ]);
  });

  it('adds up counts, and has the last failures and the least of the descriptors', async () => {
    const work = (events: Events) => {
      events.connectionsChanged?.({ listener: 'http', open: 3, maxConnections: 10 });
      events.bulkheadChanged?.({ ...ACME, running: 1, waiting: 2 });
      events.callRefused?.({ requestId: 'r-1', upstream: 'acme', code: 'overloaded' });
      events.pageFetched?.({ ...PAGE, error: 'upstream_failed' });
      events.readEnded?.({ resource: 'tools', cache: 'hit' });
      events.readEnded?.({ resource: 'tools', error: 'upstream_failed' });
    };
    const stale = (events: Events, later: (seconds: number) => void) => {
      later(30);
      work(events);
      events.readEnded?.({ resource: 'tools', cache: 'stale', staleFor: 'upstream_timeout' });
    };
    const { process, snapshots, upstreams, resources } = await combined(work, stale);
    expect(process.connections).to.deep.equal([{ listener: 'http', open: 6, max: 20 }]);
    expect(process.droppedLines).to.deep.equal({ log: 4, audit: 0, droppedAt: null });
    expect(process.descriptors.open).to.be.above(0);
    expect(snapshots).to.deep.include({ hits: 2, stale: 1, lastMinute: { served: 2, reads: 2 } });
    expect(upstreams[0]).to.deep.include({ queue: { waiting: 4, max: 20 }, refused: 2 });
    expect(upstreams[0]?.refusedBy).to.deep.equal({ breaker: 0, queue: 2, token: 0 });
    expect(upstreams[0]?.lastFailure?.at).to.equal(new Date(1_800_000_030_000).toISOString());
    expect(resources.at(-1)?.reads).to.deep.equal({ reads: 5, failed: 2, stale: 1, staleOnError: 1 });
    expect(resources.at(-1)?.staleSince).to.equal(new Date(1_800_000_030_000).toISOString());
  });
});
