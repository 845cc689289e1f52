import { type Caller, requestOf } from '../../kernel/caller.ts';
import { GatewayError } from '../../kernel/errors.ts';
import type { Events } from '../../kernel/events.ts';
import { createTtlSet } from '../../kernel/tables.ts';
import type { Upstream } from '../upstream.ts';

/** Credentials that upstreams have rejected, as several processes share them. */
export interface RejectionStore {
  /**
   * The rejections by upstreams that are called in the same way. `calledAs` is the text of everything that a rejection depends
   * on, except the credential: settings and version.
   */
  of(calledAs: string): UpstreamRejections;
}

export interface UpstreamRejections {
  /** Announces that the upstream has just rejected the credential of the caller with this key. Never throws. */
  announce(callerKey: string): void;
  /**
   * Calls `listener` with each rejection that another process announces, unless it is `ttlMs` old. Returns a function that ends
   * the subscription.
   */
  subscribe(ttlMs: number, listener: RejectionListener): () => void;
}

export type RejectionListener = (callerKey: string, ageMs: number) => void;

/** The store of a process that shares nothing. */
export const NO_REJECTION_STORE: RejectionStore = {
  of: () => ({ announce() {}, subscribe: () => () => {} }),
};

export interface NegativeCacheOptions {
  /** How long a 401 is remembered. 0: not at all. */
  readonly ttlMs: number;
  /** Shares rejections with other processes. @default with none */
  readonly rejections?: UpstreamRejections | undefined;
  readonly events: Events;
  /** A clock in milliseconds that never goes back. */
  readonly now: () => number;
}

/** An upstream that remembers rejected credentials. */
export interface RememberingUpstream extends Upstream {
  /** Whether the upstream has just rejected the credential of the caller with this key. */
  isRejected(callerKey: string): boolean;
}

/** Callers whose 401 is remembered at once: some hundred bytes each. As many rejections of other processes are kept separately. */
const MAX_CALLERS = 10_000;

/**
 * Rejects calls with a token that the upstream has just rejected, on any replica, so that retrying a rejected token causes no
 * upstream requests. It is outside the breaker: what is remembered says nothing about the upstream's health.
 */
export function withNegativeCache(
  upstream: Upstream,
  { ttlMs, rejections = NO_REJECTION_STORE.of(''), events, now }: NegativeCacheOptions,
): RememberingUpstream {
  const rejected = createTtlSet({ ttlMs, max: MAX_CALLERS, now });
  /** Separate, so that no number of these displaces what was found here. */
  const rejectedElsewhere = createTtlSet({ ttlMs, max: MAX_CALLERS, now });
  const unsubscribe = rejections.subscribe(ttlMs, rejectedElsewhere.add);

  function refuse(caller: Caller, shared?: true): never {
    const reason = shared ? 'rejected a moment ago, as another replica has found' : 'rejected a moment ago';
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
    isRejected: (callerKey) => rejected.has(callerKey) || rejectedElsewhere.has(callerKey),
    close() {
      unsubscribe();
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
          // One announcement is enough for calls that were under way together.
          if (ttlMs > 0 && !rejected.has(caller.key)) rejections.announce(caller.key);
          rejected.add(caller.key);
        }
        throw error;
      }
    },
  };
}
