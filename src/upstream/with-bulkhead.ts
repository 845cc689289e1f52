import { GatewayError } from '../kernel/errors.ts';
import { createBulkhead } from './bulkhead.ts';
import { createRecentKeys } from './recent-keys.ts';
import type { Upstream } from './upstream.ts';

export interface WithBulkheadOptions {
  /** Requests at once. No more than the connections of the client, so that nothing waits where nobody counts it. */
  readonly slots: number;
  /** Requests that may wait; more are refused with `overloaded`. */
  readonly maxQueue: number;
  /** Whether the upstream is given the caller's own token, and so can tell callers from strangers. */
  readonly callersOwn: boolean;
  /** A clock in milliseconds that never goes back. */
  readonly now: () => number;
}

/** How long, and of how many callers, it is remembered that the upstream knows them: some hundred bytes each. */
const KNOWN = { forMs: 600_000, limit: 10_000 };

/**
 * Bounds what one upstream may take up of Portico, and Portico of it. Where any string may be a token, strangers get
 * half of it at most: a caller is known by a page that its token was given.
 */
export function withBulkhead(upstream: Upstream, { slots, maxQueue, callersOwn, now }: WithBulkheadOptions): Upstream {
  const bulkhead = createBulkhead({ slots, maxQueue });
  const known = createRecentKeys({ ...KNOWN, now });
  return {
    ...upstream,
    async get(request, signal) {
      const { key } = request.caller;
      try {
        const newcomer = callersOwn && !known.has(key);
        const reply = await bulkhead.run(newcomer, signal, () => upstream.get(request, signal));
        if (callersOwn) known.add(key);
        return reply;
      } catch (error) {
        if (!(error instanceof GatewayError)) throw error;
        if (error.code === 'credential_rejected') known.delete(key);
        throw error.code === 'overloaded' ? error.from(upstream.name) : error;
      }
    },
  };
}
