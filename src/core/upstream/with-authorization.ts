import type { Caller } from '../kernel/caller.ts';
import { GatewayError } from '../kernel/errors.ts';
import type { PageRequest, Upstream } from './upstream.ts';

type Headers = NonNullable<PageRequest<unknown>['authorization']>;

/**
 * Returns the credential headers for a caller, if need be by a token exchange. Rejects with the signal's reason when it aborts.
 * Its errors have no `fault`, or are `elsewhere`: the upstream itself was not called.
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
  if (!(error instanceof GatewayError) || error.elsewhere) return false;
  return error.code === 'upstream_credential_rejected' && error.upstreamStatus === 401;
}
