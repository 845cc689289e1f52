import { mock } from 'node:test';
import { expect } from 'chai';
import { GatewayError } from '../../../../src/core/kernel/errors.ts';
import { withBreaker } from '../../../../src/core/upstream/resilience/with-breaker.ts';
import { asking, calm, errorOf, recordEvents, rejection } from '../harness.ts';
import { createScripted, PAGE, RESPONSES, status500, timeout } from '../scripted.ts';

const SETTINGS = { failurePercent: 50, minimumCalls: 4, windowMs: 10_000, openMs: 5000, probeTimeoutMs: 2000 };

type Get = (signal: AbortSignal) => Promise<unknown>;

/** Lets all that is ready to settle do so. */
const settled = () => new Promise<void>((resolve) => setImmediate(resolve));

describe('an upstream behind a breaker', () => {
  beforeEach(() => mock.timers.enable({ apis: ['setTimeout', 'setInterval', 'Date'] }));
  afterEach(() => mock.timers.reset());

  function guard(settings: Partial<typeof SETTINGS> = {}) {
    const { events, told } = recordEvents();
    const platform = createScripted();
    const upstream = withBreaker(platform.upstream, { ...SETTINGS, ...settings, events, now: () => Date.now() });
    const get = (signal = calm()) => upstream.get(asking(), signal);
    const succeed = async () => {
      const reading = get();
      platform.open.at(-1)?.succeed();
      expect(await reading).to.deep.equal(PAGE);
      await settled();
    };
    const fail = async (error: unknown = status500()) => {
      const reading = rejection(get());
      platform.open.at(-1)?.fail(error);
      expect(await reading).to.equal(error);
    };
    const trip = async () => {
      for (let count = 0; count < SETTINGS.minimumCalls; count += 1) await fail();
      expect(upstream.breakerState).to.equal('open');
    };
    const untilHalfOpen = async () => {
      await trip();
      mock.timers.tick(SETTINGS.openMs);
      expect(upstream.breakerState).to.equal('half-open');
    };
    return { ...platform, upstream, get, succeed, fail, trip, untilHalfOpen, told };
  }

  describe('while it is closed', () => {
    it('opens above the share of failures, not at it', async () => {
      const { upstream, succeed, fail } = guard();
      for (let count = 0; count < 3; count += 1) await succeed();
      for (let count = 0; count < 3; count += 1) await fail();
      expect(upstream.breakerState).to.equal('closed');
      await fail();
      expect(upstream.breakerState).to.equal('open');
    });

    it('drops outcomes that are older than the window', async () => {
      const { upstream, fail } = guard();
      for (let count = 0; count < 3; count += 1) await fail();
      mock.timers.tick(SETTINGS.windowMs);
      for (let count = 0; count < 3; count += 1) await fail();
      expect(upstream.breakerState).to.equal('closed');
      await fail();
      expect(upstream.breakerState).to.equal('open');
    });

    const gone = new Error('gone');
    const cancelled = (reason: unknown) => async (get: Get) => {
      const controller = new AbortController();
      const reading = rejection(get(controller.signal));
      controller.abort(reason);
      await reading;
    };
    const failing = (error: unknown) => (_get: Get, fail: (error: unknown) => Promise<void>) => fail(error);
    for (const [what, happen] of [
      ...Object.entries(RESPONSES).map(([what, error]) => [what, failing(error)] as const),
      ['a deadline that passed in our own queue', failing(new GatewayError('upstream_timeout'))],
      ['an overload of our own', failing(new GatewayError('overloaded'))],
      ['a bug', failing(new TypeError('x'))],
      ['a caller who hangs up', cancelled(gone)],
      ['a page that ended since another page failed', cancelled(status500())],
      ['a page that ended since another page was too slow', cancelled(timeout())],
    ] as const) {
      it(`takes ${what} for no failure`, async () => {
        const { upstream, get, fail } = guard();
        for (let count = 0; count < 50; count += 1) await happen(get, fail);
        expect(upstream.breakerState).to.equal('closed');
      });
    }
  });

  describe('while it is half-open', () => {
    it('gives one probe at a time, and one that hangs so long and no longer', async () => {
      const { upstream, untilHalfOpen, get, open } = guard();
      await untilHalfOpen();
      const probe = errorOf(get());
      expect((await errorOf(get())).code).to.equal('breaker_open');
      expect(open).to.have.length(1);
      mock.timers.tick(SETTINGS.probeTimeoutMs);
      expect((await probe).code).to.equal('upstream_timeout');
      expect(open).to.deep.equal([]);
      expect(upstream.breakerState).to.equal('open');
      mock.timers.tick(SETTINGS.openMs);
      expect(upstream.breakerState).to.equal('half-open');
    });

    it('does not count those it turns away: the next failure after it was closed finds a clean window', async () => {
      const { upstream, get, succeed, fail } = guard({ openMs: 1000 });
      for (let count = 0; count < 4; count += 1) await fail();
      for (let count = 0; count < 100; count += 1) await errorOf(get());
      mock.timers.tick(1000);
      await succeed();
      expect(upstream.breakerState).to.equal('closed');
      await fail();
      expect(upstream.breakerState).to.equal('closed');
      for (let count = 0; count < 3; count += 1) await fail();
      expect(upstream.breakerState).to.equal('open');
    });

    it('reports each change of state once, with what the window held, and each call that it rejected', async () => {
      const { untilHalfOpen, fail, succeed, get, told } = guard();
      await untilHalfOpen();
      await fail();
      await errorOf(get());
      mock.timers.tick(SETTINGS.openMs);
      await succeed();
      const changes = told.breakerChanged?.map(({ upstream, state }) => [upstream, state]);
      const states = ['open', 'half-open', 'open', 'half-open', 'closed'];
      expect(changes).to.deep.equal(states.map((state) => ['projects', state]));
      expect(told.breakerChanged?.[0]).to.include({ calls: 4, failures: 4 });
      expect(told.callRefused).to.deep.equal([{ requestId: 'request-1', upstream: 'projects', code: 'breaker_open' }]);
    });
  });
});
