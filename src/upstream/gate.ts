import { isDeadline, startDeadline } from '../kernel/deadline.ts';
import { type ErrorCode, GatewayError } from '../kernel/errors.ts';
import type { Breaker } from './breaker.ts';

export interface GateOptions {
  /** Name of the upstream behind it, for errors. */
  readonly upstream: string;
  readonly breaker: Breaker;
  /** Longest that a probe may take. */
  readonly probeTimeoutMs: number;
}

/** Decides which calls may pass a breaker, and what their outcomes say about the upstream. */
export interface Gate {
  /**
   * Runs `call` with a signal to heed, and settles as it does. Rejects with `breaker_open` at once while the breaker
   * is open, and for all but one call while it is half-open.
   */
  pass<T>(call: (signal: AbortSignal) => Promise<T>, signal: AbortSignal): Promise<T>;
}

/** What a call that failed says about the upstream. `unknown`: nothing, since it did not come to an answer. */
type Verdict = 'faulty' | 'alive' | 'unknown';

/** Codes of upstreams that did answer, if not with a page; where they are not to blame for that. */
const ANSWERED: readonly ErrorCode[] = [
  'credential_rejected',
  'access_denied',
  'upstream_credential_rejected',
  'upstream_rate_limited',
  'upstream_failed',
  'upstream_invalid',
];

export function createGate({ upstream, breaker, probeTimeoutMs }: GateOptions): Gate {
  let probing = false;

  /** Runs a call that was let through. Its outcome counts only if the state that let it through still lasts. */
  async function observe<T>(call: (signal: AbortSignal) => Promise<T>, signal: AbortSignal): Promise<T> {
    const { era } = breaker;
    const record = (ok: boolean) => {
      if (breaker.era === era) breaker.record(ok);
    };
    try {
      const result = await call(signal);
      record(true);
      return result;
    } catch (error) {
      const verdict = verdictOn(error, signal);
      if (verdict === 'faulty') record(false);
      // In a closed breaker a refusal is neither success nor failure; to a probe it is proof of life.
      if (verdict === 'alive' && breaker.state === 'half-open') record(true);
      throw error;
    }
  }

  async function probe<T>(call: (signal: AbortSignal) => Promise<T>, signal: AbortSignal): Promise<T> {
    const deadline = startDeadline(probeTimeoutMs, signal);
    probing = true;
    try {
      return await observe(call, deadline.signal);
    } finally {
      probing = false;
      deadline.end();
    }
  }

  return {
    async pass(call, signal) {
      const { state } = breaker;
      if (state === 'closed') return observe(call, signal);
      if (state === 'half-open' && !probing) return probe(call, signal);
      throw new GatewayError('breaker_open', {
        upstream,
        retryAfterSeconds: Math.max(Math.ceil(breaker.remainingMs / 1000), 1),
      });
    },
  };
}

function verdictOn(error: unknown, signal: AbortSignal): Verdict {
  if (signal.aborted && !isDeadline(signal.reason)) return 'unknown';
  if (!(error instanceof GatewayError)) return 'unknown';
  if (error.fault) return 'faulty';
  return ANSWERED.includes(error.code) ? 'alive' : 'unknown';
}
