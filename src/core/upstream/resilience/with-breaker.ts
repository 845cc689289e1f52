import { isDeadline, startDeadline } from '../../kernel/deadline.ts';
import type { ErrorCode } from '../../kernel/error-table.ts';
import { GatewayError } from '../../kernel/errors.ts';
import type { Events } from '../../kernel/events.ts';
import { requestOf } from '../../kernel/trace.ts';
import type { Upstream } from '../upstream.ts';
import { type Breaker, type BreakerSettings, type BreakerState, createBreaker } from './breaker.ts';

export interface WithBreakerOptions extends BreakerSettings {
  /** Longest that the call which probes a half-open breaker may take. */
  readonly probeTimeoutMs: number;
  /** As `upstreamOpened` tells it. */
  readonly opening?: symbol | undefined;
  readonly events: Events;
  /** A clock in milliseconds that never goes back. */
  readonly now: () => number;
}

/** An upstream behind a circuit breaker. */
export interface BreakerUpstream extends Upstream {
  /** State of its breaker now. */
  readonly breakerState: BreakerState;
}

/**
 * Spares an upstream that fails. Counts whole pages, so that a stalled body counts as a stalled head does, and one that
 * cannot be read counts for nothing. While it is open, `get` rejects with `breaker_open` at once.
 */
export function withBreaker(
  upstream: Upstream,
  { events, opening, probeTimeoutMs, ...options }: WithBreakerOptions,
): BreakerUpstream {
  const { name } = upstream;
  const breaker = createBreaker({
    ...options,
    onChange: (state, counts) => events.breakerChanged?.({ upstream: name, opening, state, ...counts }),
  });
  const gate = createGate(breaker, probeTimeoutMs);
  return {
    name,
    get breakerState() {
      return breaker.state;
    },
    async get(request, signal) {
      const call = gate.enter();
      if (call !== undefined) return call((passed) => upstream.get(request, passed), signal);
      events.callRefused?.({ ...requestOf(request.caller), upstream: name, code: 'breaker_open' });
      const retryAfterSeconds = Math.max(Math.ceil(breaker.remainingMs / 1000), 1);
      throw new GatewayError('breaker_open', { upstream: name, retryAfterSeconds });
    },
    async close() {
      breaker.close();
      await upstream.close();
    },
  };
}

type Call = <T>(work: (signal: AbortSignal) => Promise<T>, signal: AbortSignal) => Promise<T>;

/** Decides which calls may pass a breaker, and what their outcomes say about the upstream. */
interface Gate {
  /**
   * What runs a call that may pass, with a signal that may end it, and settles as it does; `undefined` where none may: while
   * the breaker is open, and for all but one call while it is half-open.
   */
  enter(): Call | undefined;
}

/** What a call that failed says about the upstream. `unknown`: nothing, since it did not come to a response. */
type Verdict = 'faulty' | 'alive' | 'unknown';

/** Codes of upstreams that did respond, if not with a page; where they are not to blame for that. */
const RESPONDED: readonly ErrorCode[] = [
  'credential_rejected',
  'access_denied',
  'upstream_credential_rejected',
  'upstream_rate_limited',
  'upstream_refused',
  'upstream_failed',
  'upstream_invalid',
];

function createGate(breaker: Breaker, probeTimeoutMs: number): Gate {
  let probing = false;

  /** Runs a call that was let through. Its outcome counts only if the state that let it through still lasts. */
  const observe: Call = async (work, signal) => {
    const { generation } = breaker;
    const record = (ok: boolean) => {
      if (breaker.generation === generation) breaker.record(ok);
    };
    try {
      const result = await work(signal);
      record(true);
      return result;
    } catch (error) {
      const verdict = verdictOn(error, signal);
      if (verdict === 'faulty') record(false);
      // In a closed breaker such a response is neither success nor fault; to a probe it is proof of life.
      if (verdict === 'alive' && breaker.state === 'half-open') record(true);
      throw error;
    }
  };

  const probe: Call = async (work, signal) => {
    const deadline = startDeadline(probeTimeoutMs, signal);
    probing = true;
    try {
      return await observe(work, deadline.signal);
    } finally {
      probing = false;
      deadline.end();
    }
  };

  return {
    enter() {
      const { state } = breaker;
      if (state === 'closed') return observe;
      return state === 'half-open' && !probing ? probe : undefined;
    },
  };
}

function verdictOn(error: unknown, signal: AbortSignal): Verdict {
  if (signal.aborted && !isDeadline(signal.reason)) return 'unknown';
  if (!(error instanceof GatewayError) || error.elsewhere) return 'unknown';
  if (error.fault) return 'faulty';
  return RESPONDED.includes(error.code) ? 'alive' : 'unknown';
}
