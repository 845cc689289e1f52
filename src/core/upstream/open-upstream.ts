import type { Caller } from '../kernel/caller.ts';
import { GatewayError } from '../kernel/errors.ts';
import { createUpstream, type UpstreamOptions } from './client/upstream-client.ts';
import { type BreakerSettings, type BreakerUpstream, withBreaker } from './resilience/with-breaker.ts';
import { withBulkhead } from './resilience/with-bulkhead.ts';
import {
  type RememberingUpstream,
  type UpstreamRejections,
  withNegativeCache,
} from './resilience/with-negative-cache.ts';
import { type RetrySettings, withRetry } from './resilience/with-retry.ts';
import type { PageRequest, Upstream } from './upstream.ts';

type Headers = NonNullable<PageRequest<unknown>['authorization']>;

/**
 * Returns the credential headers for a caller, if need be by a token exchange. Rejects with the signal's reason when it aborts.
 * Its errors have no `fault`, or are `elsewhere`: the upstream itself was not called.
 */
export type Authorize = (caller: Caller, signal: AbortSignal) => Promise<Headers>;

/** Called after a 401 to what `authorize` returned for this caller. Returns whether `authorize` has a newer credential. */
export type Refused = (caller: Caller, given: Headers) => boolean;

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
  const now = () => performance.now();
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

/** Adds the caller's credential to each request and all its retries. After a 401, tries once more if `refused` allows it. */
function withAuthorization(upstream: Upstream, authorize: Authorize, refused: Refused = () => false): Upstream {
  return {
    ...upstream,
    async get(request, signal) {
      const { caller } = request;
      for (let resends = 0; ; resends += 1) {
        request.enter('authorization');
        const authorization = await authorize(caller, signal);
        try {
          return await upstream.get({ ...request, authorization, ...(resends > 0 && { resends }) }, signal);
        } catch (error) {
          if (!isRefused(error) || !refused(caller, authorization) || resends > 0) throw error;
        }
      }
    },
  };
}

/** Whether the upstream refused a credential that was made for the caller. The caller's own token cannot be renewed. */
function isRefused(error: unknown): boolean {
  if (!(error instanceof GatewayError)) return false;
  return error.code === 'upstream_credential_rejected' && error.upstreamStatus === 401;
}
