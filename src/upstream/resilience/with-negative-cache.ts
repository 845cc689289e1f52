import { GatewayError } from '../../kernel/errors.ts';
import { createTtlSet } from '../../kernel/tables/ttl-set.ts';
import type { Events } from '../../observability/events.ts';
import { requestOf } from '../../observability/trace.ts';
import type { Upstream } from '../upstream.ts';

export interface NegativeCacheOptions {
  /** How long a 401 is remembered. 0: not at all. */
  readonly ttlMs: number;
  readonly events: Events;
  /** A clock in milliseconds that never goes back. */
  readonly now: () => number;
}

/** Callers whose 401 is remembered at once: some hundred bytes each. */
const MAX_CALLERS = 10_000;

/**
 * Answers a caller whose own token the upstream has just rejected without asking again, so that a client which tries a
 * dead token in a loop costs the upstream nothing. Stands ahead of the breaker: what is remembered says nothing about
 * the upstream's health.
 */
export function withNegativeCache(upstream: Upstream, { ttlMs, events, now }: NegativeCacheOptions): Upstream {
  const rejected = createTtlSet({ ttlMs, max: MAX_CALLERS, now });
  return {
    name: upstream.name,
    close: () => upstream.close(),
    async get(request, signal) {
      const { key } = request.caller;
      if (rejected.has(key)) {
        const error = new GatewayError('credential_rejected', {
          upstream: upstream.name,
          reason: 'rejected a moment ago',
        });
        events.callRefused?.({ ...requestOf(request.caller), upstream: upstream.name, code: error.code });
        throw error;
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
