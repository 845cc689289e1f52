import { mock } from 'node:test';
import { expect } from 'chai';
import fc from 'fast-check';
import { GatewayError } from '../../../../src/core/kernel/errors.ts';
import { type BreakerUpstream, withBreaker } from '../../../../src/core/upstream/resilience/with-breaker.ts';
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
    it('admits calls, and does not open at one failure, nor before there were enough calls', async () => {
      const { upstream, fail } = guard();
      for (let count = 1; count < SETTINGS.minimumCalls; count += 1) await fail();
      expect(upstream.breakerState).to.equal('closed');
      await fail();
      expect(upstream.breakerState).to.equal('open');
    });

    it('opens above the share of failures, not at it', async () => {
      const { upstream, succeed, fail } = guard();
      for (let count = 0; count < 3; count += 1) await succeed();
      for (let count = 0; count < 3; count += 1) await fail();
      expect(upstream.breakerState).to.equal('closed');
      await fail();
      expect(upstream.breakerState).to.equal('open');
    });

    it('counts an upstream that is too slow, by its deadline or by its connection', async () => {
      const { upstream, get, fail } = guard();
      const controller = new AbortController();
      const reads = [0, 1].map(() => errorOf(get(controller.signal)));
      controller.abort(new GatewayError('upstream_timeout'));
      for (const error of await Promise.all(reads)) expect(error.code).to.equal('upstream_timeout');
      await fail(timeout());
      await fail(timeout());
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

  describe('while it is open', () => {
    it('rejects at once without a request, with the remaining time', async () => {
      const { trip, get, count } = guard();
      await trip();
      const asked = count();
      expect(await errorOf(get())).to.include({ code: 'breaker_open', status: 503, retryAfterSeconds: 5 });
      mock.timers.tick(3500);
      expect(await errorOf(get())).to.include({ code: 'breaker_open', retryAfterSeconds: 2 });
      mock.timers.tick(1499);
      expect(await errorOf(get())).to.include({ code: 'breaker_open', retryAfterSeconds: 1 });
      expect(count()).to.equal(asked);
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
  });

  describe('while it is half-open', () => {
    it('gives a probe that hangs so long and no longer', async () => {
      const { upstream, untilHalfOpen, get, open } = guard();
      await untilHalfOpen();
      const probe = errorOf(get());
      mock.timers.tick(SETTINGS.probeTimeoutMs);
      expect((await probe).code).to.equal('upstream_timeout');
      expect(open).to.deep.equal([]);
      expect(upstream.breakerState).to.equal('open');
      mock.timers.tick(SETTINGS.openMs);
      expect(upstream.breakerState).to.equal('half-open');
    });

    it('has a probe end although its caller disconnects', async () => {
      const { upstream, untilHalfOpen, get, open } = guard();
      for (const [how, state] of [
        ['fail', 'open'],
        ['succeed', 'closed'],
      ] as const) {
        if (how === 'fail') await untilHalfOpen();
        else mock.timers.tick(SETTINGS.openMs);
        const controller = new AbortController();
        const reason = new Error('gone');
        const probe = rejection(get(controller.signal));
        controller.abort(reason);
        expect(await probe).to.equal(reason);
        expect(upstream.breakerState).to.equal('half-open');
        open[0]?.[how](status500());
        await settled();
        expect(upstream.breakerState).to.equal(state);
      }
    });
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

  it('leaves no timer behind when it is closed', async () => {
    const { upstream, trip, told } = guard();
    await trip();
    await upstream.close();
    mock.timers.tick(60_000);
    expect(told.breakerChanged).to.have.length(1);
  });

  it('ignores outcomes that arrive after it was closed', async () => {
    const { upstream, get, open, told } = guard();
    const late = Array.from({ length: 2 * SETTINGS.minimumCalls }, () => rejection(get()));
    const requests = [...open];
    await upstream.close();
    for (const request of requests) request.fail(status500());
    await Promise.all(late);
    expect(upstream.breakerState).to.equal('closed');
    expect(told.breakerChanged).to.equal(undefined);
  });

  describe('whatever happens, in any order', () => {
    const HOW = ['page', 'fault', 'answer', 'hang-up'] as const;
    type Event =
      | { readonly kind: 'ask' }
      | { readonly kind: 'tick'; readonly ms: number }
      | { readonly kind: 'end'; readonly which: number; readonly how: (typeof HOW)[number] };
    const kind = <K extends Event['kind']>(name: K) => fc.constant(name);
    const end = fc.record({ kind: kind('end'), which: fc.nat(8), how: fc.constantFrom(...HOW) });
    const event = fc.oneof<fc.WeightedArbitrary<Event>[]>(
      { arbitrary: fc.record({ kind: kind('ask') }), weight: 4 },
      { arbitrary: end, weight: 4 },
      { arbitrary: fc.record({ kind: kind('tick'), ms: fc.nat(6000) }), weight: 1 },
    );

    it('one call probes at a time, only a probe that finds life closes it, and a turned-away call costs nothing', async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(event, { maxLength: 60 }), async (events) => {
          const { upstream, open, count, told } = guard();
          await play(upstream, events, { open, count });
          const states = told.breakerChanged?.map(({ state }) => state) ?? [];
          for (const [index, state] of states.entries()) {
            const before = states[index - 1] ?? 'closed';
            expect(['closed→open', 'open→half-open', 'half-open→open', 'half-open→closed']).to.include(
              `${before}→${state}`,
            );
          }
          await upstream.close();
        }),
        { numRuns: 500 },
      );
    });

    async function play(
      upstream: BreakerUpstream,
      events: readonly Event[],
      { open, count }: Pick<ReturnType<typeof createScripted>, 'open' | 'count'>,
    ): Promise<void> {
      const hangUps = new Map<AbortSignal, AbortController>();
      const asked: { controller: AbortController; probe: boolean; running: boolean }[] = [];
      for (const each of events) {
        const before = upstream.breakerState;
        if (each.kind === 'tick') {
          mock.timers.tick(each.ms);
          await settled();
          // Time alone never closes it.
          if (before !== 'closed') expect(upstream.breakerState).to.not.equal('closed');
        } else if (each.kind === 'ask') {
          const probing = asked.some(({ probe, running }) => probe && running);
          const controller = new AbortController();
          const mine = { controller, probe: before === 'half-open', running: true };
          const sent = count();
          const reading = upstream.get(asking(), controller.signal).then(
            () => undefined,
            (error: unknown) => error,
          );
          void reading.then(() => {
            mine.running = false;
          });
          const passes = before === 'closed' || (before === 'half-open' && !probing);
          expect(count() - sent).to.equal(passes ? 1 : 0);
          if (passes) asked.push(mine);
          else expect(await reading).to.have.property('code', 'breaker_open');
          const request = open.at(-1);
          if (passes && request !== undefined) hangUps.set(request.signal, controller);
        } else {
          const request = open[each.which % Math.max(open.length, 1)];
          if (request === undefined) continue;
          const controller = hangUps.get(request.signal);
          const probe = asked.some((one) => one.controller === controller && one.probe && one.running);
          if (each.how === 'page') request.succeed();
          else if (each.how === 'fault') request.fail(status500());
          else if (each.how === 'answer') request.fail(RESPONSES[403]);
          else controller?.abort(new Error('gone'));
          await settled();
          const after = upstream.breakerState;
          if (probe) {
            const due = { page: 'closed', answer: 'closed', fault: 'open', 'hang-up': 'half-open' }[each.how];
            expect(after).to.equal(due);
          } else if (before !== 'closed') {
            expect(after).to.equal(before);
          } else if (each.how !== 'fault') {
            expect(after).to.equal('closed');
          }
        }
      }
      for (const { controller } of asked) controller.abort(new Error('gone'));
      await settled();
      expect(open).to.deep.equal([]);
    }
  });
});
