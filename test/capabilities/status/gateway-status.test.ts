import { expect } from 'chai';
import { ACME, BOUNDS, openStatus, PAGE } from './open-status.ts';

describe('the status of a gateway', () => {
  it('counts commands that Redis did not answer', async () => {
    const { events, status } = openStatus();
    expect((await status()).shared).to.equal(null);
    events.sharedStoreOpened?.();
    events.sharedStoreChanged?.({ isUp: true });
    for (const outcome of ['ok', 'timeout', 'full', 'failed'] as const) {
      events.sharedCommandEnded?.({ command: 'get', outcome, ms: 1 });
    }
    expect((await status()).shared?.isUp).to.equal(true);
    expect((await status()).shared?.commands).to.include({ requests: 4, failures: 3 });
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
});
