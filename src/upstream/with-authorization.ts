import type { Caller } from '../kernel/caller.ts';
import type { PageRequest, Upstream } from './upstream.ts';

/**
 * Finds the headers that tell an upstream who asks, if need be by a token exchange. Rejects with the signal's reason once
 * it aborts. An error that it rejects with must have no `fault`: the upstream itself was not asked.
 */
export type Authorize = (
  caller: Caller,
  signal: AbortSignal,
) => Promise<NonNullable<PageRequest<unknown>['authorization']>>;

/** Puts the caller's authorization on each request, once for all its retries. */
export function withAuthorization(upstream: Upstream, authorize: Authorize): Upstream {
  return {
    ...upstream,
    async get(request, signal) {
      const authorization = await authorize(request.caller, signal);
      return upstream.get({ ...request, authorization }, signal);
    },
  };
}
