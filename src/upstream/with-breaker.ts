import type { Logger } from '../observability/logger.ts';
import { type BreakerSettings, type BreakerState, createBreaker } from './breaker.ts';
import { createGate } from './gate.ts';
import type { Upstream } from './upstream.ts';

export interface WithBreakerOptions extends BreakerSettings {
  /** Longest that the call which probes a half-open breaker may take. */
  readonly probeTimeoutMs: number;
  readonly logger: Logger;
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
 * cannot be read counts for nothing. While it is open, `get` rejects with `breaker_open` at once. Changes of state are
 * logged.
 */
export function withBreaker(
  upstream: Upstream,
  { logger, probeTimeoutMs, ...options }: WithBreakerOptions,
): BreakerUpstream {
  const breaker = createBreaker({
    ...options,
    onChange(state, counts) {
      const level = state === 'open' ? 'warn' : 'info';
      logger[level]({ upstream: upstream.name, state, ...counts }, 'breaker');
    },
  });
  const gate = createGate({ upstream: upstream.name, breaker, probeTimeoutMs });
  return {
    name: upstream.name,
    get breakerState() {
      return breaker.state;
    },
    get: (request, signal) => gate.pass((passed) => upstream.get(request, passed), signal),
    async close() {
      breaker.close();
      await upstream.close();
    },
  };
}
