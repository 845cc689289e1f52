import { expect } from 'chai';
import { ACME, BOUNDS, openStatus, PAGE } from './open-status.ts';

describe('the status of a gateway', () => {
  it('has the share of cacheable reads that memory served', async () => {
    const { events, status } = openStatus();
    expect((await status()).snapshots.hitRatio).to.equal(null);
    for (const cache of ['hit', 'hit', 'stale', 'miss', 'shared', 'bypass', 'bypass', undefined]) {
      events.readEnded?.({ resource: 'tools', cache });
    }
    expect((await status()).snapshots).to.include({ hits: 2, stale: 1, misses: 2, hitRatio: 0.6 });
  });

  it('counts failures of an upstream, and not its judgements of callers', async () => {
    const { events, status } = openStatus();
    for (const error of [undefined, 'credential_rejected', 'access_denied', 'upstream_failed']) {
      events.pageFetched?.({ ...PAGE, error });
    }
    const [upstream] = (await status()).upstreams;
    expect(upstream?.total).to.include({ requests: 4, failures: 1 });
    expect(upstream?.lastFailure).to.include({ code: 'upstream_failed' });
  });

  it('counts commands that Redis did not answer', async () => {
    const { events, status } = openStatus();
    expect((await status()).shared).to.equal(null);
    events.sharedStoreOpened?.();
    events.sharedStoreChanged?.({ isUp: true });
    for (const outcome of ['ok', 'refused', 'timeout', 'failed', 'unavailable', 'refused_by_store'] as const) {
      events.sharedCommandEnded?.({ command: 'get', outcome, ms: 1 });
    }
    expect((await status()).shared?.isUp).to.equal(true);
    expect((await status()).shared?.commands).to.include({ requests: 6, failures: 2 });
  });

  it('keeps the counts of an upstream over a reload, and drops those of a removed one', async () => {
    const { events, status } = openStatus();
    const refused = async () => (await status()).upstreams.map((upstream) => [upstream.name, upstream.refused]);
    const next = Symbol('next');
    events.callRefused?.({ ...PAGE, code: 'breaker_open' });
    events.upstreamOpened?.({ ...BOUNDS, upstream: 'acme', opening: next });
    events.upstreamClosed?.(ACME);
    expect(await refused()).to.deep.equal([['acme', 1]]);
    events.upstreamClosed?.({ upstream: 'acme', opening: next });
    expect(await refused()).to.deep.equal([]);
  });

  it('lists servers that upstreams depend on while they are open, and ignores late events', async () => {
    const { events, status } = openStatus();
    const [first, second] = [Symbol('first'), Symbol('second')];
    const names = async () => (await status()).upstreams.map(({ name, breaker }) => `${name} ${breaker}`);
    events.upstreamOpened?.({ ...BOUNDS, upstream: 'acme.exchange', opening: first });
    expect(await names()).to.deep.equal(['acme closed', 'acme.exchange closed']);
    const change = { upstream: 'acme.exchange', state: 'open', calls: 1, failures: 1 } as const;
    events.breakerChanged?.({ ...change, opening: first });
    expect(await names()).to.deep.equal(['acme closed', 'acme.exchange open']);
    events.upstreamClosed?.({ upstream: 'acme.exchange', opening: first });
    events.breakerChanged?.({ ...change, opening: first });
    events.breakerChanged?.({ ...change, opening: second });
    expect(await names()).to.deep.equal(['acme closed']);
  });
});
