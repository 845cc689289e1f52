import { createUpstream, type UpstreamOptions } from './client/upstream-client.ts';
import type { UpstreamRejections } from './resilience/rejection-store.ts';
import { type BreakerSettings, type BreakerUpstream, withBreaker } from './resilience/with-breaker.ts';
import { withBulkhead } from './resilience/with-bulkhead.ts';
import { withNegativeCache } from './resilience/with-negative-cache.ts';
import { type RetrySettings, withRetry } from './resilience/with-retry.ts';
import { type Authorize, type Refused, withAuthorization } from './with-authorization.ts';

export interface OpenUpstreamOptions extends UpstreamOptions {
  readonly authorize: Authorize;
  readonly refused?: Refused | undefined;
  /** Ends what `authorize` depends on: called when the upstream is closed. */
  readonly close?: (() => Promise<void>) | undefined;
  /** Deadline of one read; no call that probes a failed upstream takes longer. */
  readonly timeoutMs: number;
  /** Requests that may wait for a connection; more get `overloaded`. */
  readonly maxQueue: number;
  /** How long a 401 to a caller's own token is remembered. */
  readonly rememberRejectedMs: number;
  /** Shares these rejections with other processes. @default with none */
  readonly rejections?: UpstreamRejections | undefined;
  readonly breaker: BreakerSettings;
  readonly retry: RetrySettings;
}

/** A remote API as reads ask it: the client, and around it the layers that deal with its faults. */
export function openUpstream(options: OpenUpstreamOptions): BreakerUpstream {
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
    ...client
  } = options;
  const { callersOwn, connections, events } = client;
  const opening = Symbol(client.name);
  const now = () => performance.now();
  const retrying = withRetry(createUpstream(client), { ...retry, events, now });
  const bounded = withBulkhead(retrying, { slots: connections, maxQueue, callersOwn, opening, events, now });
  // Ahead of the bulkhead: who waits for an authorization must not take a place from those that have one.
  const authorized = withAuthorization(bounded, authorize, refused);
  const guarded = withBreaker(authorized, { ...breaker, probeTimeoutMs: timeoutMs, opening, events, now });
  const { name, get, ...asked } = withNegativeCache(guarded, { ttlMs: rememberRejectedMs, rejections, events, now });
  events.upstreamOpened?.({ upstream: name, opening, connections, maxQueue });
  return {
    name,
    get,
    async close() {
      await Promise.all([asked.close(), closeAuthorization?.()]);
      events.upstreamClosed?.({ upstream: name, opening });
    },
    get breakerState() {
      return guarded.breakerState;
    },
  };
}
