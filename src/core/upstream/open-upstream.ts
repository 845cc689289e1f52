import { createUpstream, type UpstreamOptions } from './client/upstream-client.ts';
import {
  type Authorize,
  type Refused,
  type RememberingUpstream,
  type UpstreamRejections,
  withAuthorization,
  withNegativeCache,
} from './resilience/with-authorization.ts';
import { type BreakerSettings, type BreakerUpstream, withBreaker } from './resilience/with-breaker.ts';
import { withBulkhead } from './resilience/with-bulkhead.ts';
import { type RetrySettings, withRetry } from './resilience/with-retry.ts';
import type { Upstream } from './upstream.ts';

export interface OpenUpstreamOptions extends UpstreamOptions {
  readonly authorize: Authorize;
  readonly refused?: Refused | undefined;
  /** Closes what `authorize` depends on. Called when the upstream is closed. */
  readonly close?: (() => Promise<void>) | undefined;
  /** Deadline of one read, and of a call that probes a failed upstream. */
  readonly timeoutMs: number;
  /** Requests that may wait for a connection; more get `overloaded`. */
  readonly maxQueue: number;
  /** How long a 401 to a caller's own token is remembered. */
  readonly rememberRejectedMs: number;
  /** Shares these rejections with other processes. @default with none */
  readonly rejections?: UpstreamRejections | undefined;
  readonly breaker: BreakerSettings;
  readonly retry: RetrySettings;
  /** Wraps each single request. @default nothing is wrapped */
  readonly wrapClient?: (client: Upstream, baseUrl: string) => Upstream;
}

/** Opens a remote API: the client, and the layers around it that handle its faults. */
export function openUpstream(options: OpenUpstreamOptions): BreakerUpstream & RememberingUpstream {
  const {
    authorize,
    refused,
    close: closeAuthorization,
    timeoutMs,
    maxQueue,
    rememberRejectedMs,
    rejections,
    breaker,
    retry,
    wrapClient = (inner) => inner,
    ...client
  } = options;
  const { callersOwn, connections, events } = client;
  const opening = Symbol(client.name);
  const now = performance.now.bind(performance);
  const retrying = withRetry(wrapClient(createUpstream(client), client.baseUrl), { ...retry, events, now });
  const bounded = withBulkhead(retrying, { slots: connections, maxQueue, callersOwn, opening, events, now });
  // Outside the bulkhead: a call that waits for its authorization must not hold a slot.
  const authorized = withAuthorization(bounded, authorize, refused);
  const guarded = withBreaker(authorized, { ...breaker, probeTimeoutMs: timeoutMs, opening, events, now });
  const { name, get, isRejected, ...cached } = withNegativeCache(guarded, {
    ttlMs: rememberRejectedMs,
    rejections,
    events,
    now,
  });
  events.upstreamOpened?.({ upstream: name, opening, connections, maxQueue });
  return {
    name,
    get,
    isRejected,
    async close() {
      await Promise.all([cached.close(), closeAuthorization?.()]);
      events.upstreamClosed?.({ upstream: name, opening });
    },
    get breakerState() {
      return guarded.breakerState;
    },
  };
}
