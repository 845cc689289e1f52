import type { Logger } from '../observability/logger.ts';
import type { BreakerSettings } from './breaker.ts';
import { createUpstream, type UpstreamOptions } from './client.ts';
import { type BreakerUpstream, withBreaker } from './with-breaker.ts';
import { withBulkhead } from './with-bulkhead.ts';
import { withRejections } from './with-rejections.ts';
import { type RetrySettings, withRetry } from './with-retry.ts';

export interface OpenUpstreamOptions extends UpstreamOptions {
  /** Deadline of one read; no call that probes a failed upstream takes longer. */
  readonly timeoutMs: number;
  /** Requests that may wait for a connection; more are refused. */
  readonly maxQueue: number;
  /** How long a 401 to a caller's own token is remembered. */
  readonly rememberRejectedMs: number;
  readonly breaker: BreakerSettings;
  readonly retry: RetrySettings;
  readonly logger: Logger;
}

/** A remote API as reads ask it: the client, and around it the layers that deal with its failures. */
export function openUpstream(options: OpenUpstreamOptions): BreakerUpstream {
  const { timeoutMs, maxQueue, rememberRejectedMs, breaker, retry, logger, ...client } = options;
  const now = () => performance.now();
  const { callersOwn } = client.credential;
  const retrying = withRetry(createUpstream(client), { ...retry, now });
  const bounded = withBulkhead(retrying, { slots: client.connections, maxQueue, callersOwn, now });
  const guarded = withBreaker(bounded, { ...breaker, probeTimeoutMs: timeoutMs, logger, now });
  const { name, get, close } = withRejections(guarded, { forMs: rememberRejectedMs, now });
  return {
    name,
    get,
    close,
    get breakerState() {
      return guarded.breakerState;
    },
  };
}
