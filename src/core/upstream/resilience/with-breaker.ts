import CircuitBreaker from 'opossum';
import { requestOf } from '../../kernel/caller.ts';
import { isDeadline, startDeadline } from '../../kernel/deadline.ts';
import type { ErrorCode } from '../../kernel/error-table.ts';
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

export interface WithBreakerOptions extends BreakerSettings {
  readonly probeTimeoutMs: number;
  readonly opening?: symbol | undefined;
  readonly events: Events;
  readonly now: () => number;
}

/** An upstream behind a circuit breaker. */
export interface BreakerUpstream extends Upstream {
  readonly breakerState: BreakerState;
}

/**
 * Stops calling an upstream while it is failing: `get` then rejects with `breaker_open` at once. Counts whole pages, so that a
 * stalled body counts as a stalled head does. opossum holds state and statistics. Calls do not run in it: only outcomes that
 * count are fired (docs/decisions/0009).
 */
export function withBreaker(
  upstream: Upstream,
  { events, opening, probeTimeoutMs, now, ...settings }: WithBreakerOptions,
): BreakerUpstream {
  const { name } = upstream;
  let generation = 0;
  let openedAt = 0;
  let isProbing = false;
  let lastFailure = '';
  let reason = '';
  let circuit = createCircuit();

  function createCircuit(): CircuitBreaker<[boolean], void> {
    const created = new CircuitBreaker<[boolean], void>(conclude, {
      timeout: false,
      errorThresholdPercentage: settings.failurePercent,
      volumeThreshold: settings.minimumCalls,
      rollingCountTimeout: settings.windowMs,
      rollingPercentilesEnabled: false,
      enableSnapshots: false,
      resetTimeout: settings.openMs,
    });
    created.on('open', () => {
      openedAt = now();
      const { fires, failures } = created.stats;
      reason = `${failures} of ${fires} calls failed; the last: ${lastFailure}`;
      changed();
    });
    created.on('halfOpen', changed);
    created.on('close', () => {
      changed();
      // An empty window: with the failures from before, one more would open it again.
      created.shutdown();
      circuit = createCircuit();
    });
    return created;
  }

  function stateNow(): BreakerState {
    if (circuit.opened) return 'open';
    return circuit.halfOpen ? 'half-open' : 'closed';
  }

  function changed(): void {
    generation += 1;
    const { fires: calls, failures } = circuit.stats;
    const state = stateNow();
    const why = state === 'open' ? { reason } : {};
    events.breakerChanged?.({ upstream: name, opening, state, calls, failures, ...why });
  }

  /** Calls the upstream. The outcome counts only while the state that admitted the call lasts. */
  async function call<P>(request: PageRequest<P>, signal: AbortSignal): Promise<Reply<P>> {
    const admittedIn = generation;
    const record = (ok: boolean) => {
      if (generation !== admittedIn) return;
      // A success that is fired would close it some turns later.
      if (ok && circuit.halfOpen) circuit.close();
      else circuit.fire(ok).catch(() => {});
    };
    try {
      const reply = await upstream.get(request, signal);
      record(true);
      return reply;
    } catch (error) {
      const verdict = verdictOn(error, signal);
      if (verdict === 'faulty') {
        lastFailure = describe(error);
        record(false);
      }
      // In a closed breaker such a response is neither success nor fault; to a probe it proves that the upstream responds.
      if (verdict === 'alive' && circuit.halfOpen) record(true);
      throw error;
    }
  }

  async function probe<P>(request: PageRequest<P>, signal: AbortSignal): Promise<Reply<P>> {
    const deadline = startDeadline(probeTimeoutMs, signal);
    isProbing = true;
    try {
      return await call(request, deadline.signal);
    } finally {
      isProbing = false;
      deadline.end();
    }
  }

  return {
    name,
    get breakerState() {
      return stateNow();
    },
    get(request, signal) {
      if (stateNow() === 'closed') return call(request, signal);
      if (stateNow() === 'half-open' && !isProbing) return probe(request, signal);
      events.callRefused?.({ ...requestOf(request.caller), upstream: name, code: 'breaker_open' });
      const remainingMs = circuit.opened ? openedAt + settings.openMs - now() : 0;
      const retryAfterSeconds = Math.max(Math.ceil(remainingMs / 1000), 1);
      return Promise.reject(new GatewayError('breaker_open', { upstream: name, retryAfterSeconds, reason }));
    },
    async close() {
      circuit.shutdown();
      await upstream.close();
    },
  };
}

/** Codes of upstreams that responded without a page, for reasons other than their own fault. */
const RESPONDED: readonly ErrorCode[] = [
  'credential_rejected',
  'access_denied',
  'upstream_credential_rejected',
  'upstream_rate_limited',
  'upstream_refused',
  'upstream_failed',
  'upstream_invalid',
];

/** What a failed call shows about the upstream. `unknown`: nothing, because there was no response. */
function verdictOn(error: unknown, signal: AbortSignal): 'faulty' | 'alive' | 'unknown' {
  if (signal.aborted && !isDeadline(signal.reason)) return 'unknown';
  if (!(error instanceof GatewayError) || error.dependencyFailed) return 'unknown';
  if (error.countsForBreaker) return 'faulty';
  return RESPONDED.includes(error.code) ? 'alive' : 'unknown';
}

function describe(error: unknown): string {
  const { code, reason } = error as GatewayError;
  return reason === undefined ? code : `${code}, ${reason}`;
}

const FAILED = new Error('the call failed');

/** opossum's action. It throws rather than rejects, so that opossum has recorded the failure when `fire` returns. */
function conclude(ok: boolean): Promise<void> {
  if (!ok) throw FAILED;
  return Promise.resolve();
}
