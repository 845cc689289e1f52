import CircuitBreaker from 'opossum';
import { type Caller, requestOf } from '../../kernel/caller.ts';
import { startDeadline, withAbort } from '../../kernel/deadline.ts';
import { GatewayError } from '../../kernel/errors.ts';
import type { Events } from '../../kernel/events.ts';
import type { PageRequest, Reply, Upstream } from '../upstream.ts';

export type BreakerState = 'closed' | 'open' | 'half-open';

export interface BreakerSettings {
  /** Opens when more than this share of the calls in the window failed. */
  readonly failurePercent: number;
  /** Calls in the window below which the breaker stays closed. */
  readonly minimumCalls: number;
  readonly windowMs: number;
  /** How long it stays open before one call may probe. */
  readonly openMs: number;
}

interface WithBreakerOptions extends BreakerSettings {
  readonly probeTimeoutMs: number;
  readonly instanceId?: symbol | undefined;
  readonly events: Events;
  readonly now: () => number;
}

/** An upstream behind a circuit breaker. */
export interface BreakerUpstream extends Upstream {
  readonly breakerState: BreakerState;
  /** Throws for a call while the breaker is open, so that the layers around it need no work for it. */
  check(caller: Caller): void;
}

/**
 * Stops calling an upstream while it is failing: `get` then rejects with `breaker_open` at once. Counts whole pages, so that a
 * stalled body counts as a stalled head does. Each outcome counts, and only errors with `countsForBreaker` as failures, so only
 * calls of the upstream itself may run in it (docs/decisions/0009).
 */
export function withBreaker(
  upstream: Upstream,
  { events, instanceId, probeTimeoutMs, now, ...settings }: WithBreakerOptions,
): BreakerUpstream {
  const { name } = upstream;
  let openUntil = 0;
  let reason = '';
  const counted = new WeakSet<GatewayError>();
  let circuit = createCircuit();

  /** Counts an error once: the one of a page also ends the other pages of its load. */
  function counts(error: unknown): boolean {
    if (!(error instanceof GatewayError) || !error.countsForBreaker || counted.has(error)) return false;
    counted.add(error);
    return true;
  }

  function createCircuit() {
    let lastFailure = '';
    const created = new CircuitBreaker<[() => Promise<unknown>], unknown>((call) => call(), {
      timeout: false,
      errorFilter: (error) => !counts(error),
      errorThresholdPercentage: settings.failurePercent,
      volumeThreshold: settings.minimumCalls,
      rollingCountTimeout: settings.windowMs,
      rollingPercentilesEnabled: false,
      enableSnapshots: false,
      resetTimeout: settings.openMs,
    });
    const changed = (state: BreakerState) => {
      const { fires: calls, failures } = created.stats;
      const why = state === 'open' ? { reason } : {};
      events.breakerChanged?.({ upstream: name, instanceId, state, calls, failures, ...why });
    };
    created.on('failure', (error) => {
      lastFailure = describe(error);
    });
    created.on('open', () => {
      const { fires, failures } = created.stats;
      openUntil = now() + settings.openMs;
      reason = `${failures} of ${fires} calls failed; the last: ${lastFailure}`;
      changed('open');
    });
    created.on('halfOpen', () => changed('half-open'));
    created.on('close', () => {
      changed('closed');
      // Its window has the failures from before, and each call that it rejected.
      created.shutdown();
      circuit = createCircuit();
    });
    return created;
  }

  function refused(caller: Caller): GatewayError {
    events.callRefused?.({ ...requestOf(caller), upstream: name, code: 'breaker_open' });
    const retryAfterSeconds = Math.max(Math.ceil((openUntil - now()) / 1000), 1);
    return new GatewayError('breaker_open', { upstream: name, retryAfterSeconds, reason });
  }

  return {
    name,
    get breakerState() {
      if (circuit.opened) return 'open';
      return circuit.halfOpen ? 'half-open' : 'closed';
    },
    check(caller) {
      if (circuit.opened) throw refused(caller);
    },
    async get<P>(request: PageRequest<P>, signal: AbortSignal): Promise<Reply<P>> {
      if (circuit.isShutdown) return upstream.get(request, signal);
      // A probe goes on when its caller leaves, because a cancelled call shows nothing about the upstream.
      const probe = () => {
        const deadline = startDeadline(probeTimeoutMs, new AbortController().signal);
        return upstream.get(request, deadline.signal).finally(deadline.end);
      };
      const fire = (call: () => Promise<Reply<P>>) => circuit.fire(call) as Promise<Reply<P>>;
      try {
        return await (circuit.halfOpen
          ? withAbort(signal, () => fire(probe))
          : fire(() => upstream.get(request, signal)));
      } catch (error) {
        if (error instanceof Error && 'code' in error && error.code === 'EOPENBREAKER') throw refused(request.caller);
        throw error;
      }
    },
    async close() {
      circuit.shutdown();
      await upstream.close();
    },
  };
}

function describe(error: unknown): string {
  const { code, reason } = error as GatewayError;
  return reason === undefined ? code : `${code}, ${reason}`;
}
