import { z } from 'zod';
import { whole } from '../../core/config/schema/scalars.ts';
import type { HttpRequest } from '../../core/http/http-request.ts';
import type { RequestHooks } from '../../core/http/request-hooks.ts';
import { countedAs } from '../../core/kernel/caller.ts';
import { GatewayError, isOfCredential } from '../../core/kernel/errors.ts';
import type { Limits as Bounds } from '../../core/kernel/limits.ts';
import { createTtlSet } from '../../core/kernel/lru.ts';
import type { SharedCounts } from '../../core/sharing.ts';
import { createRate, type Rate, type RateState } from './rate.ts';
import { createReservations } from './reservations.ts';
import { createSharedRate } from './shared-rate.ts';

export const limitSettings = z.strictObject({
  perCaller: whole(0, 1_000_000_000)
    .default(0)
    .describe(
      'Requests of one caller in a window. Beyond: 429. A caller is a verified subject, otherwise an access token. 0: no limit.',
    ),
  perAddress: whole(0, 1_000_000_000)
    .optional()
    .describe(
      'Requests from one address (IPv6: one /64) in a window, counted as for perCaller, with tokens that neither verification nor, in the last ten minutes, a platform has accepted; those without a token, where none is needed, are counted by themselves. Beyond: 429. Unset: 10 times perCaller. 0: no limit.',
    ),
  rejectedPerAddress: whole(0, 1_000_000_000)
    .default(0)
    .describe(
      'Requests from one address (IPv6: one /64) in a window whose token is missing, malformed or rejected. Beyond: 429, with any token. 0: no limit.',
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

type LimitHooks = Pick<RequestHooks, 'spend'> & Partial<RequestHooks>;

type Policy = Exclude<keyof LimitSettings, 'windowMs' | 'maxKeys'>;

const POLICIES: Readonly<Record<Policy, { readonly name: string; readonly detail: string }>> = {
  perCaller: {
    name: 'caller',
    detail: 'This caller has sent too many requests. Try again after Retry-After.',
  },
  perAddress: {
    name: 'address',
    detail:
      'This address has sent too many requests with tokens that are not known to be accepted. Try again after Retry-After.',
  },
  rejectedPerAddress: {
    name: 'rejected',
    detail: 'Too many credentials from this address were rejected. Try again after Retry-After.',
  },
};

/** Time for which an accepted caller needs no slot. */
const ACCEPTED_MS = 600_000;

/** Returns the hooks that settings need, since each takes part of the time of a request; `undefined` without any limit. */
export function createLimits(options: LimitsOptions, shared?: SharedCounts): LimitHooks | undefined {
  const { windowMs, maxKeys, perCaller: ofCaller, perAddress: ofAddress = ofCaller * CALLERS_OF_ADDRESS } = options;
  const quotas: Readonly<Record<Policy, number>> = { ...options, perAddress: ofAddress };
  function rateOf(policy: Policy): Rate | undefined {
    if (quotas[policy] === 0) return undefined;
    const rate = { quota: quotas[policy], windowMs, maxKeys };
    if (shared === undefined) return createRate(rate);
    // Windows of another length are separate counts.
    const nameOf = (key: string) => shared.nameOf(`${policy} ${windowMs} ${key}`);
    return createSharedRate({ ...rate, counts: shared, nameOf });
  }
  const perCaller = rateOf('perCaller');
  const perAddress = rateOf('perAddress');
  const rejected = rateOf('rejectedPerAddress');
  if ([perCaller, perAddress, rejected].every((rate) => rate === undefined)) return undefined;
  const reservations = rejected && createReservations(rejected, options.rejectedPerAddress);
  const accepted = createTtlSet({ ttlMs: ACCEPTED_MS, max: maxKeys, now: () => performance.now() });
  const { provesToken = () => false } = options;
  /** `RateLimit-Policy` and `RateLimit`, as in draft-ietf-httpapi-ratelimit-headers-11. */
  function describe(request: HttpRequest, policy: Policy, { remaining, resetMs }: RateState): void {
    const { name } = POLICIES[policy];
    // The draft has whole seconds. Rounded up, so that a client that respects them stays within the limit.
    const limit = `"${name}";q=${quotas[policy]};w=${seconds(windowMs)}`;
    const state = `"${name}";r=${remaining};t=${seconds(resetMs)}`;
    Object.assign(request.responseHeaders, { 'RateLimit-Policy': limit, RateLimit: state });
  }

  function refuse(request: HttpRequest, policy: Policy, state: RateState): never {
    describe(request, policy, state);
    throw new GatewayError('rate_limited', {
      detail: POLICIES[policy].detail,
      retryAfterSeconds: seconds(state.resetMs),
      reason: `limits.${policy} is reached: ${quotas[policy]} in ${seconds(windowMs)} s`,
      bound: `limits.${policy}`,
    });
  }

  /** Returns whether the platform has accepted the caller's access token: it returned a list for it. */
  function wasAccepted({ signal, record: { resource, error } }: HttpRequest): boolean {
    return !signal.aborted && error === undefined && resource !== undefined && provesToken(resource);
  }

  function lookAt(request: HttpRequest, policy: Policy, rate?: Rate): void {
    const state = rate?.look(request.address);
    if (state?.remaining === 0) refuse(request, policy, state);
  }

  function takeOf(request: HttpRequest, policy: Policy, key: string, rate?: Rate): void {
    const state = rate?.take(key, 1);
    if (state?.isOver) refuse(request, policy, state);
    if (state !== undefined && policy === 'perCaller') describe(request, policy, state);
  }

  return {
    ...(rejected && {
      preAuthenticate: (request) => lookAt(request, 'rejectedPerAddress', rejected),
    }),
    ...(reservations && {
      preVerify(request, callerKey) {
        if (accepted.has(callerKey)) return;
        return reservations.take(request, request.address, (state) => refuse(request, 'rejectedPerAddress', state));
      },
    }),
    spend(request, caller) {
      const { address } = request;
      if (caller === undefined) return takeOf(request, 'perAddress', `anonymous ${address}`, perAddress);
      const ofAddress = caller.verified !== undefined || accepted.has(caller.credentialKey) ? undefined : perAddress;
      // First, because an address over its limit must not add a key, which could displace a caller.
      lookAt(request, 'perAddress', ofAddress);
      // Requests rejected by one limit do not count for the following ones.
      takeOf(request, 'perCaller', countedAs(caller), perCaller);
      takeOf(request, 'perAddress', address, ofAddress);
    },
    ...((rejected ?? perAddress) && {
      onSettled(request) {
        const {
          address,
          record: { callerKey, error },
        } = request;
        const wasHeld = reservations?.release(request) ?? false;
        // A guess whose client does not wait for the verdict is counted, too.
        const isUnjudged = wasHeld && request.signal.aborted;
        if (isUnjudged || isOfCredential(error)) rejected?.take(address, 1);
        if (isOfCredential(error)) {
          if (callerKey !== undefined) accepted.delete(callerKey);
        } else if (callerKey !== undefined && wasAccepted(request)) accepted.add(callerKey);
      },
    }),
  };
}

/** At least a second: with 0, a client would retry immediately. */
function seconds(ms: number): number {
  return Math.max(Math.ceil(ms / 1000), 1);
}
