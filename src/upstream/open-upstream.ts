import { createUpstream, type UpstreamOptions } from './client/client.ts';
import type { BreakerSettings } from './resilience/breaker.ts';
import { type BreakerUpstream, withBreaker } from './resilience/with-breaker.ts';
import { withBulkhead } from './resilience/with-bulkhead.ts';
import { withNegativeCache } from './resilience/with-negative-cache.ts';
import { type RetrySettings, withRetry } from './resilience/with-retry.ts';
import { type Authorize, withAuthorization } from './with-authorization.ts';

export interface OpenUpstreamOptions extends UpstreamOptions {
  readonly authorize: Authorize;
  /** Deadline of one read; no call that probes a failed upstream takes longer. */
  readonly timeoutMs: number;
  /** Requests that may wait for a connection; more get `overloaded`. */
  readonly maxQueue: number;
  /** How long a 401 to a caller's own token is remembered. */
  readonly rememberRejectedMs: number;
  readonly breaker: BreakerSettings;
  readonly retry: RetrySettings;
}

/** A remote API as reads ask it: the client, and around it the layers that deal with its faults. */
export function openUpstream(options: OpenUpstreamOptions): BreakerUpstream {
  const { authorize, timeoutMs, maxQueue, rememberRejectedMs, breaker, retry, ...client } = options;
  const { callersOwn, connections, events } = client;
  const now = () => performance.now();
  const retrying = withRetry(createUpstream(client), { ...retry, events, now });
  const authorized = withAuthorization(retrying, authorize);
  const bounded = withBulkhead(authorized, { slots: connections, maxQueue, callersOwn, events, now });
  const guarded = withBreaker(bounded, { ...breaker, probeTimeoutMs: timeoutMs, events, now });
  const { name, get, ...asked } = withNegativeCache(guarded, { ttlMs: rememberRejectedMs, events, now });
  events.upstreamOpened?.({ upstream: name, connections, maxQueue });
  return {
    name,
    get,
    async close() {
      await asked.close();
      events.upstreamClosed?.({ upstream: name });
    },
    get breakerState() {
      return guarded.breakerState;
    },
  };
}
