import { GatewayError } from '../kernel/errors.ts';
import { createRecentKeys } from './recent-keys.ts';
import type { Upstream } from './upstream.ts';

export interface RejectionsOptions {
  /** How long a 401 is remembered. 0: not at all. */
  readonly forMs: number;
  /** A clock in milliseconds that never goes back. */
  readonly now: () => number;
}

/** Callers whose 401 is remembered at once: some hundred bytes each. */
const MAX_CALLERS = 10_000;

/**
 * Answers a caller whose own token the upstream has just refused without asking again, so that a client which tries a
 * dead token in a loop costs the upstream nothing. Stands ahead of the breaker: what is remembered says nothing about
 * the upstream's health.
 */
export function withRejections(upstream: Upstream, { forMs, now }: RejectionsOptions): Upstream {
  const rejected = createRecentKeys({ forMs, limit: MAX_CALLERS, now });
  return {
    name: upstream.name,
    close: () => upstream.close(),
    async get(request, signal) {
      const { key } = request.caller;
      if (rejected.has(key)) {
        throw new GatewayError('credential_rejected', { upstream: upstream.name, reason: 'refused a moment ago' });
      }
      try {
        return await upstream.get(request, signal);
      } catch (error) {
        if (error instanceof GatewayError && error.code === 'credential_rejected') rejected.add(key);
        throw error;
      }
    },
  };
}
