import type { UpstreamRejections } from '../../../capabilities/shared-cache/shared-rejections.ts';
import type { Caller } from '../../kernel/caller.ts';
import { GatewayError } from '../../kernel/errors.ts';
import type { Events } from '../../kernel/events.ts';
import { createTtlSet } from '../../kernel/tables/ttl-set.ts';
import { requestOf } from '../../kernel/trace.ts';
import type { Upstream } from '../upstream.ts';

export interface NegativeCacheOptions {
  /** How long a 401 is remembered. 0: not at all. */
  readonly ttlMs: number;
  /** What replicas tell each other. @default nothing */
  readonly rejections?: UpstreamRejections | undefined;
  readonly events: Events;
  /** A clock in milliseconds that never goes back. */
  readonly now: () => number;
}

/** Callers whose 401 is remembered at once: some hundred bytes each. Of what other replicas tell, as many beside them. */
const MAX_CALLERS = 10_000;

/**
 * Answers a caller whose own token the upstream has just rejected without asking again, so that a client which tries a
 * dead token in a loop costs the upstream nothing, whichever replica it asks. Stands ahead of the breaker: what is remembered
 * says nothing about the upstream's health.
 */
export function withNegativeCache(
  upstream: Upstream,
  { ttlMs, rejections, events, now }: NegativeCacheOptions,
): Upstream {
  const rejected = createTtlSet({ ttlMs, max: MAX_CALLERS, now });
  /** Beside the others: however much is told, what was found here stays. */
  const rejectedElsewhere = createTtlSet({ ttlMs, max: MAX_CALLERS, now });
  const stopHearing = rejections?.onTold(ttlMs, rejectedElsewhere.add);

  function refuse(caller: Caller, shared?: true): never {
    const reason = shared ? 'rejected a moment ago, as another replica has told' : 'rejected a moment ago';
    const error = new GatewayError('credential_rejected', { upstream: upstream.name, reason });
    events.callRefused?.({
      ...requestOf(caller),
      upstream: upstream.name,
      code: error.code,
      ...(shared && { shared }),
    });
    throw error;
  }

  return {
    name: upstream.name,
    close() {
      stopHearing?.();
      return upstream.close();
    },
    async get(request, signal) {
      const { caller } = request;
      if (rejected.has(caller.key)) refuse(caller);
      if (rejectedElsewhere.has(caller.key)) refuse(caller, true);
      try {
        return await upstream.get(request, signal);
      } catch (error) {
        if (error instanceof GatewayError && error.code === 'credential_rejected') {
          // Calls that were under way together need not each be told of.
          if (ttlMs > 0 && !rejected.has(caller.key)) rejections?.tell(caller.key);
          rejected.add(caller.key);
        }
        throw error;
      }
    },
  };
}
