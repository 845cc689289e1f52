import type { Caller } from '../kernel/caller.ts';
import { GatewayError } from '../kernel/errors.ts';
import type { PageRequest, Upstream } from './upstream.ts';

/** Headers that tell an upstream who asks. */
type Headers = NonNullable<PageRequest<unknown>['authorization']>;

/**
 * Finds the headers that tell an upstream who asks, if need be by a token exchange. Rejects with the signal's reason once
 * it aborts. An error that it rejects with must have no `fault`, or be `elsewhere`: the upstream itself was not asked.
 */
export type Authorize = (caller: Caller, signal: AbortSignal) => Promise<Headers>;

/**
 * Told that the upstream did not accept (401) what `authorize` gave for this caller. Whether `authorize` has something newer
 * now, which it may accept.
 */
export type Refused = (caller: Caller, given: Headers) => boolean;

/** Puts the caller's authorization on each request, once for all its retries; and once more where `refused` has it so. */
export function withAuthorization(upstream: Upstream, authorize: Authorize, refused: Refused = () => false): Upstream {
  return {
    ...upstream,
    async get(request, signal) {
      const { caller } = request;
      for (let attempt = 1; ; attempt += 1) {
        const authorization = await authorize(caller, signal);
        try {
          return await upstream.get(
            { ...request, authorization, ...(attempt > 1 && { resends: attempt - 1 }) },
            signal,
          );
        } catch (error) {
          if (!isRefused(error) || !refused(caller, authorization) || attempt > 1) throw error;
        }
      }
    },
  };
}

/** Whether the upstream did not accept what was made for the caller: its own token is nothing to try again with. */
function isRefused(error: unknown): boolean {
  if (!(error instanceof GatewayError) || error.elsewhere) return false;
  return error.code === 'upstream_credential_rejected' && error.upstreamStatus === 401;
}
