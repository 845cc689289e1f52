import { expect } from 'chai';
import { ACME, openStatus, PAGE } from './open-status.ts';

describe('the status of a gateway', () => {
  it('says whether Redis is in use and connected', async () => {
    const { events, status } = openStatus();
    const shared = async () => (await status()).shared;
    expect(await shared()).to.equal(null);
    events.sharedStoreOpened?.();
    expect(await shared()).to.deep.equal({ isUp: false });
    events.sharedStoreChanged?.({ isUp: true });
    expect(await shared()).to.deep.equal({ isUp: true });
  });

  it('keeps the counts of an upstream over a reload, and drops those of a removed one', async () => {
    const { events, status } = openStatus();
    const refused = async () => (await status()).upstreams.map((upstream) => [upstream.name, upstream.refused]);
    const next = Symbol('next');
    events.callRefused?.({ ...PAGE, code: 'breaker_open' });
    events.upstreamOpened?.({ upstream: 'acme', instanceId: next });
    events.upstreamClosed?.(ACME);
    expect(await refused()).to.deep.equal([['acme', 1]]);
    events.upstreamClosed?.({ upstream: 'acme', instanceId: next });
    expect(await refused()).to.deep.equal([]);
  });
});
