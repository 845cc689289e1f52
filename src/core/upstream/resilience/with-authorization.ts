import { type Caller, requestOf } from '../../kernel/caller.ts';
import { GatewayError } from '../../kernel/errors.ts';
import type { Events } from '../../kernel/events.ts';
import { createTtlSet } from '../../kernel/tables.ts';
import type { PageRequest, Upstream } from '../upstream.ts';

type Headers = NonNullable<PageRequest<unknown>['authorization']>;

/**
 * Returns the credential headers for a caller, if need be by a token exchange. Rejects with the signal's reason when it aborts.
 * Its errors do not count for the breaker, or have `dependencyFailed`: the upstream itself was not called.
 */
export type Authorize = (caller: Caller, signal: AbortSignal) => Promise<Headers>;

/** Called after a 401 to what `authorize` returned for this caller. Returns whether `authorize` has a newer credential. */
export type Refused = (caller: Caller, given: Headers) => boolean;

/** Adds the caller's credential to each request and all its retries. After a 401, tries once more if `refused` allows it. */
export function withAuthorization(upstream: Upstream, authorize: Authorize, refused: Refused = () => false): Upstream {
  return {
    ...upstream,
    async get(request, signal) {
      const { caller } = request;
      for (let resends = 0; ; resends += 1) {
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

export const NO_REJECTION_STORE: RejectionStore = {
  of: () => ({ announce() {}, subscribe: () => () => {} }),
};

export interface NegativeCacheOptions {
  readonly ttlMs: number;
  /** Shares rejections with other processes. @default with none */
  readonly rejections?: UpstreamRejections | undefined;
  readonly events: Events;
  readonly now: () => number;
}

/** An upstream that remembers rejected credentials. */
export interface RememberingUpstream extends Upstream {
  isRejected(callerKey: string): boolean;
}

/** Callers whose 401 is remembered at once: some hundred bytes each. As many rejections of other processes are kept separately. */
const MAX_CALLERS = 10_000;

/**
 * Rejects calls with a token that the upstream has just rejected, on any replica, so that retrying a rejected token causes no
 * upstream requests. It is outside the breaker: a remembered rejection does not concern the upstream's health.
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
    events.callRefused?.({ ...requestOf(caller), upstream: upstream.name, code: error.code });
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
      if (rejected.has(caller.credentialKey)) refuse(caller);
      if (rejectedElsewhere.has(caller.credentialKey)) refuse(caller, true);
      try {
        return await upstream.get(request, signal);
      } catch (error) {
        if (error instanceof GatewayError && error.code === 'credential_rejected') {
          // One announcement is enough for calls that were under way together.
          if (ttlMs > 0 && !rejected.has(caller.credentialKey)) rejections.announce(caller.credentialKey);
          rejected.add(caller.credentialKey);
        }
        throw error;
      }
    },
  };
}
