import { expect } from 'chai';
import type { ErrorCode } from '../../../src/core/kernel/error-table.ts';
import { GatewayError } from '../../../src/core/kernel/errors.ts';
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

  it('counts the requests of ten minutes and of the last one, and those that failed, cut off or in a tool call', async () => {
    const { events, status, later } = openStatus();
    const end = (outcome: string, code?: ErrorCode) => {
      const error = code && new GatewayError(code);
      events.requestEnded?.({ edge: 'http', requestId: 'r-1', startedAt: 0, ms: 1, bytes: 0, outcome, error });
    };
    for (const outcome of ['ok', 'not_modified', 'caller_gone', 'draining']) end(outcome);
    for (const code of ['access_denied', 'upstream_timeout'] as const) end(code, code);
    end('ok', 'upstream_failed');
    later(60);
    end('ok');
    const { requests, lastMinute } = await status();
    expect(requests).to.include({ requests: 8, failures: 3 });
    expect(lastMinute).to.include({ requests: 1, failures: 0 });
  });

  it('is draining from the signal on', async () => {
    const { events, status } = openStatus();
    expect((await status()).state).to.equal('serving');
    events.draining?.({});
    expect((await status()).state).to.equal('draining');
  });

  it('has the last failure of an upstream, of a page or of pages that were valid alone, and no rejection', async () => {
    const { events, status } = openStatus();
    const last = async () => (await status()).upstreams[0]?.lastFailure;
    for (const error of [undefined, 'credential_rejected', 'access_denied', 'overloaded'])
      events.pageFetched?.({ ...PAGE, error });
    expect(await last()).to.equal(null);
    events.pageFetched?.({ ...PAGE, error: 'upstream_failed', causes: ['Error ECONNREFUSED'] });
    expect(await last()).to.include({ code: 'upstream_failed', reason: null });
    expect((await last())?.causes).to.deep.equal(['Error ECONNREFUSED']);
    const load = { resource: 'tools', upstream: 'acme', ms: 1 };
    for (const error of [undefined, 'upstream_timeout']) events.loadEnded?.({ ...load, error });
    expect(await last()).to.include({ code: 'upstream_failed' });
    events.loadEnded?.({ ...load, error: 'upstream_invalid', reason: 'a page came again' });
    expect(await last()).to.include({ code: 'upstream_invalid', reason: 'a page came again' });
  });
});
