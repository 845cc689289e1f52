import { type Caller, requestOf } from '../../kernel/caller.ts';
import { GatewayError } from '../../kernel/errors.ts';
import type { Events } from '../../kernel/events.ts';
import { createTtlSet } from '../../kernel/lru.ts';
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

interface NegativeCacheOptions {
  readonly ttlMs: number;
  readonly events: Events;
  readonly now: () => number;
}

/** An upstream that remembers rejected credentials. */
export interface RememberingUpstream extends Upstream {
  isRejected(callerKey: string): boolean;
}

/** Callers whose 401 is remembered at once: some hundred bytes each. */
const MAX_CALLERS = 10_000;

/**
 * Rejects calls with a token that the upstream has just rejected, so that retrying a rejected token causes no
 * upstream requests. It is outside the breaker: a remembered rejection does not concern the upstream's health.
 */
export function withNegativeCache(
  upstream: Upstream,
  { ttlMs, events, now }: NegativeCacheOptions,
): RememberingUpstream {
  const rejected = createTtlSet({ ttlMs, max: MAX_CALLERS, now });

  function refuse(caller: Caller): never {
    const error = new GatewayError('credential_rejected', { upstream: upstream.name, reason: 'rejected a moment ago' });
    events.callRefused?.({ ...requestOf(caller), upstream: upstream.name, code: error.code });
    throw error;
  }

  return {
    name: upstream.name,
    isRejected: rejected.has,
    close: upstream.close,
    async get(request, signal) {
      const { caller } = request;
      if (rejected.has(caller.credentialKey)) refuse(caller);
      try {
        return await upstream.get(request, signal);
      } catch (error) {
        if (error instanceof GatewayError && error.code === 'credential_rejected') {
          rejected.add(caller.credentialKey);
        }
        throw error;
      }
    },
  };
}
