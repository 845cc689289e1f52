import { type Caller, requestOf } from '../../kernel/caller.ts';
import { GatewayError } from '../../kernel/errors.ts';
import type { Events } from '../../kernel/events.ts';
import { createTtlSet } from '../../kernel/lru.ts';
import type { PageRequest, Upstream } from '../upstream.ts';

type Headers = NonNullable<PageRequest<unknown>['authorization']>;

export interface AuthorizationOptions {
  /**
   * Returns the credential headers for a caller, if need be by a token exchange. Rejects with the signal's reason when it aborts.
   * Its errors do not count for the breaker, or have `dependencyFailed`: the upstream itself was not called.
   */
  readonly authorize: (caller: Caller, signal: AbortSignal) => Promise<Headers>;
  /** Called after a 401 to what `authorize` returned for this caller. Returns whether there is a newer one. @default there is none */
  readonly refused?: ((caller: Caller, given: Headers) => boolean) | undefined;
  /** Throws while no call is made, which then needs no authorization. @default calls are always made */
  readonly check?: ((caller: Caller) => void) | undefined;
  /** How long a rejected token is remembered. */
  readonly rememberRejectedMs: number;
  readonly events: Events;
  readonly now: () => number;
}

/** Callers whose 401 is remembered at once: some hundred bytes each. */
const MAX_CALLERS = 10_000;

/**
 * Adds the caller's credential to each request and all its retries. After a 401, tries once more if `refused` allows it. Rejects
 * calls with a token that the upstream has just rejected, so that retrying it causes no upstream requests. It is outside the breaker: a
 * remembered rejection does not concern the upstream's health.
 */
export function withAuthorization(
  upstream: Upstream,
  { authorize, refused = () => false, check, rememberRejectedMs: ttlMs, events, now }: AuthorizationOptions,
): Upstream {
  const rejected = createTtlSet({ ttlMs, max: MAX_CALLERS, now });

  return {
    ...upstream,
    async get(request, signal) {
      const { caller } = request;
      if (rejected.has(caller.credentialKey)) {
        const error = new GatewayError('credential_rejected', {
          upstream: upstream.name,
          reason: 'rejected a moment ago',
        });
        events.callRefused?.({ ...requestOf(caller), upstream: upstream.name, code: error.code });
        throw error;
      }
      check?.(caller);
      for (let resends = 0; ; resends += 1) {
        let given: Headers | undefined;
        try {
          given = await authorize(caller, signal);
          return await upstream.get({ ...request, authorization: given }, signal);
        } catch (error) {
          const { code, upstreamStatus } = error instanceof GatewayError ? error : {};
          if (code === 'credential_rejected') rejected.add(caller.credentialKey);
          // The caller's own token cannot be renewed.
          const isRefused = code === 'upstream_credential_rejected' && upstreamStatus === 401 && given !== undefined;
          if (!isRefused || !refused(caller, given as Headers) || resends > 0) throw error;
        }
      }
    },
  };
}
