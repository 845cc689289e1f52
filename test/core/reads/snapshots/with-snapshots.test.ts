import { expect } from 'chai';
import { ERRORS, type ErrorCode } from '../../../../src/core/kernel/error-table.ts';
import { GatewayError } from '../../../../src/core/kernel/errors.ts';
import { allowsStale, stageAt } from '../../../../src/core/reads/snapshots/with-snapshots.ts';
import { loadOf } from '../../../support/platform/loads.ts';
import { errorOf, settle, text } from './fake-loader.ts';
import { alice, cacheFixture, failed, readAnswered, readRejected, SECOND } from './replica.ts';

const SHORT = { ttlMs: 60, staleWhileRevalidateMs: 300, staleIfErrorMs: 3600 };
const LOADED_AT = 1000;

describe('the stage of a snapshot', () => {
  it('depends on its age; one from the future is over', () => {
    for (const [age, stage] of [
      [-1, 'over'],
      [0, 'fresh'],
      [59, 'fresh'],
      [60, 'stale-while-revalidate'],
      [359, 'stale-while-revalidate'],
      [360, 'stale-if-error'],
      [3659, 'stale-if-error'],
      [3660, 'over'],
    ] as const) {
      expect(stageAt(LOADED_AT + age, LOADED_AT, SHORT), `${age} ms`).to.equal(stage);
    }
  });
});

describe('an error that a stale snapshot may replace', () => {
  it('is a failure of the upstream, or a refusal of a call to it', () => {
    const codes = (Object.keys(ERRORS) as ErrorCode[]).filter((code) => allowsStale(new GatewayError(code)));
    expect(codes).to.have.members(['upstream_rate_limited', 'upstream_timeout', 'breaker_open', 'overloaded']);
    for (const facts of [{ countsForBreaker: true }, { upstreamStatus: 408 }, { upstreamStatus: 425 }]) {
      expect(allowsStale(new GatewayError('upstream_failed', facts))).to.equal(true);
    }
  });

  it('is neither another answer of the upstream nor a bug', () => {
    expect(allowsStale(new GatewayError('upstream_failed', { upstreamStatus: 302 }))).to.equal(false);
    for (const upstreamStatus of [400, 404, 410, 419, 440, 451, 498]) {
      expect(allowsStale(new GatewayError('upstream_refused', { upstreamStatus }))).to.equal(false);
    }
    expect(allowsStale(new TypeError('a bug'))).to.equal(false);
  });
});

describe('a stale snapshot', () => {
  it('is served immediately, and refreshed by one load at a time, which no reader cancels', async () => {
    const { tools, clock, told } = cacheFixture();
    await readAnswered(tools, [{ id: 'old' }]);
    clock.now += 60 * SECOND;
    const caller = new AbortController();
    for (let reads = 0; reads < 3; reads += 1)
      expect(text(await tools.read(alice, { signal: caller.signal }))).to.contain('old');
    // None but the first read has to do with it.
    expect(told.map(([name]) => name)).to.deep.equal(['stored', 'read', 'read', 'read', 'read']);
    caller.abort();
    await settle();
    // Who wants the upstream to be asked joins it, and leaves it under way.
    const other = new AbortController();
    const reading = errorOf(tools.read(alice, { signal: other.signal, noCache: true }));
    other.abort();
    await reading;
    expect(tools.pendingLoads[1]?.signal.aborted).to.equal(false);
    tools.pendingLoads[1]?.finish([{ id: 'new' }]);
    await settle();
    expect(text(await tools.read(alice))).to.contain('new');
    expect(tools.pendingLoads).to.have.length(2);
  });

  it('is not served once the upstream has answered its refresh with anything but a failure', async () => {
    const { tools, clock } = cacheFixture();
    await readAnswered(tools, [{ id: 'old' }]);
    clock.now += 60 * SECOND;
    await tools.read(alice);
    const redirected = new GatewayError('upstream_failed', { upstreamStatus: 302 });
    tools.pendingLoads.at(-1)?.reject(redirected);
    await settle();
    expect(await errorOf(readRejected(tools, redirected))).to.equal(redirected);
    expect(text(await readRejected(tools, failed))).to.contain('old');
  });
});

describe('a copy of a store that is older than was asked for', () => {
  it('is loaded again, without copies then', async () => {
    const { tools, clock } = cacheFixture();
    const reading = tools.read(alice);
    const loadedAt = clock.now - 3_600 * SECOND;
    tools.pendingLoads[0]?.finish([{ id: 'old' }], { ...loadOf([{ id: 'old' }], { loadedAt }), fromSharedCache: true });
    await settle();
    expect(tools.pendingLoads.map(({ options }) => options?.maxAgeMs)).to.deep.equal([360 * SECOND, 0]);
    tools.pendingLoads[1]?.finish([{ id: 'new' }]);
    expect(text(await reading)).to.equal('[{"id":"new"}]');
  });
});
