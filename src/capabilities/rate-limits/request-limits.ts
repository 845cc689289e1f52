import { z } from 'zod';
import { whole } from '../../core/config/schema/scalars.ts';
import type { HttpRequest } from '../../core/http/http-request.ts';
import type { RequestHooks } from '../../core/http/request-hooks.ts';
import { rateLimitKey } from '../../core/kernel/caller.ts';
import { GatewayError, isOfCredential } from '../../core/kernel/errors.ts';
import type { Limits as Bounds } from '../../core/kernel/limits.ts';
import { createTtlSet } from '../../core/kernel/lru.ts';
import type { SharedCounts } from '../../core/sharing.ts';
import { createRate, type RateState } from './rate.ts';

export const limitSettings = z.strictObject({
  perCaller: whole(0, 1_000_000_000)
    .default(0)
    .describe(
      'Requests of one caller in a window. Beyond: 429. A caller is a verified subject, otherwise an access token. 0: no limit.',
    ),
  perAddress: whole(0, 1_000_000_000)
    .optional()
    .describe(
      'Requests from one address (IPv6: one /64) in a window whose token was rejected, or is accepted by neither verification nor, in the last ten minutes, a platform. Each counts from its start, and no longer once its token is accepted; those without a token, where none is needed, are counted by themselves. Beyond: 429. Unset: 10 times perCaller. 0: no limit.',
    ),
  windowMs: whole(1000, 86_400_000)
    .default(60_000)
    .describe('Window in which requests are counted. It begins with the first request.'),
});

type LimitSettings = z.output<typeof limitSettings> & Bounds['limits'];

interface LimitsOptions extends LimitSettings {
  /** Whether a 2xx of this resource shows that the platform has accepted the caller's access token. @default none does */
  readonly provesToken?: (resource: string) => boolean;
}

/** Default of `perAddress`, in multiples of `perCaller`. */
const CALLERS_OF_ADDRESS = 10;

const DETAILS = {
  caller: 'This caller has sent too many requests. Try again after Retry-After.',
  address:
    'This address has sent too many requests with tokens that are not known to be accepted. Try again after Retry-After.',
};

/** Time for which an accepted caller does not count against its address. */
const ACCEPTED_MS = 600_000;

/** Returns the hooks that settings need, since each takes part of the time of a request; `undefined` without any limit. */
export function createLimits(
  options: LimitsOptions,
  counts?: SharedCounts,
): (Pick<RequestHooks, 'countAgainstLimits'> & Partial<RequestHooks>) | undefined {
  const { windowMs, maxKeys, provesToken = () => false } = options;
  const { perCaller: ofCaller, perAddress: ofAddress = ofCaller * CALLERS_OF_ADDRESS } = options;
  function openPolicy(name: keyof typeof DETAILS, bound: 'perCaller' | 'perAddress', quota: number) {
    if (quota === 0) return undefined;
    // Windows of another length are separate counts.
    const nameOf = (key: string) => counts?.nameOf(`${bound} ${windowMs} ${key}`) ?? key;
    /** `RateLimit-Policy` and `RateLimit`, as in draft-ietf-httpapi-ratelimit-headers-11. */
    function describe(request: HttpRequest, { remaining, resetMs }: RateState): void {
      // The draft has whole seconds. Rounded up, so that a client that respects them stays within the limit.
      const limit = `"${name}";q=${quota};w=${seconds(windowMs)}`;
      const state = `"${name}";r=${remaining};t=${seconds(resetMs)}`;
      Object.assign(request.responseHeaders, { 'RateLimit-Policy': limit, RateLimit: state });
    }
    return {
      ...createRate({ quota, windowMs, maxKeys, counts, nameOf }),
      describe,
      refuse(request: HttpRequest, state: RateState): never {
        describe(request, state);
        throw new GatewayError('rate_limited', {
          detail: DETAILS[name],
          retryAfterSeconds: seconds(state.resetMs),
          reason: `limits.${bound} is reached: ${quota} in ${seconds(windowMs)} s`,
          bound: `limits.${bound}`,
        });
      },
    };
  }
  const perCaller = openPolicy('caller', 'perCaller', ofCaller);
  const perAddress = openPolicy('address', 'perAddress', ofAddress);
  if (perCaller === undefined && perAddress === undefined) return undefined;
  const accepted = createTtlSet({ ttlMs: ACCEPTED_MS, max: maxKeys, now: () => performance.now() });
  /** Requests that count against their address. */
  const held = new WeakSet<HttpRequest>();

  function takeOfAddress(request: HttpRequest, key: string): void {
    const state = perAddress?.take(key);
    if (state?.isOver) perAddress?.refuse(request, state);
  }

  function giveBack(request: HttpRequest): void {
    if (held.delete(request)) perAddress?.giveBack(request.address);
  }

  /** Returns whether the platform has accepted the caller's access token: it returned a list for it. */
  function wasAccepted({ signal, record: { resource, error } }: HttpRequest): boolean {
    return !signal.aborted && error === undefined && resource !== undefined && provesToken(resource);
  }

  return {
    ...(perAddress && {
      // Before it counts as a caller: made-up tokens beyond the limit must not displace callers.
      preVerify(request, callerKey) {
        if (accepted.has(callerKey)) return;
        takeOfAddress(request, request.address);
        held.add(request);
      },
      onSettled(request) {
        const { callerKey, error } = request.record;
        if (callerKey === undefined) return;
        if (isOfCredential(error)) accepted.delete(callerKey);
        if (!wasAccepted(request)) return;
        accepted.add(callerKey);
        giveBack(request);
      },
    }),
    countAgainstLimits(request, caller) {
      if (caller === undefined) return takeOfAddress(request, `anonymous ${request.address}`);
      if (caller.verified !== undefined) giveBack(request);
      const state = perCaller?.take(rateLimitKey(caller));
      if (perCaller === undefined || state === undefined) return;
      if (!state.isOver) return perCaller.describe(request, state);
      // A request that one limit refuses does not count for the other.
      giveBack(request);
      perCaller.refuse(request, state);
    },
  };
}

/** At least a second: with 0, a client would retry immediately. */
function seconds(ms: number): number {
  return Math.max(Math.ceil(ms / 1000), 1);
}
