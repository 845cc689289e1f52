import type { Exchange } from '../../core/http/exchange.ts';
import { type Caller, countedAs } from '../../core/kernel/caller.ts';
import { GatewayError, isOfCredential } from '../../core/kernel/errors.ts';
import type { SharedCounts } from '../../core/kernel/shared-counts.ts';
import { createTtlSet } from '../../core/kernel/tables/ttl-set.ts';
import { createRate, type Rate, type Standing } from './rate.ts';
import { createReservations } from './reservations.ts';
import { createSharedRate } from './shared-rate.ts';

/** Settings of the limits; 0 is no limit. */
export interface LimitSettings {
  readonly windowMs: number;
  readonly perCaller: number;
  /** @default {@link CALLERS_OF_ADDRESS} times `perCaller` */
  readonly perAddress?: number | undefined;
  readonly rejectedPerAddress: number;
  readonly total: number;
  readonly maxKeys: number;
}

export interface LimitsOptions extends LimitSettings {
  /**
   * Whether a 2xx of this resource shows that the platform has accepted the caller's access token. Such a caller needs no place
   * among those whose credential is not verified yet, and does not count against its address. @default no resource does
   */
  readonly isJudged?: (resource: string) => boolean;
}

/** How many requests are answered in a window of time. */
export interface Limits {
  /** Rejects with `rate_limited` where too many credentials from this address were refused. */
  checkAddress(exchange: Exchange): Promise<void> | undefined;
  /**
   * Counts so many requests of a caller, and of its address where nothing has accepted its token; without a caller, of the
   * address alone. Rejects with `rate_limited` where those are more than may be sent.
   */
  count(exchange: Exchange, caller: Pick<Caller, 'key' | 'verified'> | undefined, units: number): Promise<void>;
  /**
   * Takes a place of the address for a credential that is yet to be judged, unless the caller with this key was accepted
   * lately. Rejects with `rate_limited` where none is free in time.
   */
  reserve(exchange: Exchange, callerKey: string): Promise<void> | undefined;
  /**
   * Counts what came of a request, and gives its place back: a credential that was refused counts against its address.
   */
  settle(exchange: Exchange): void;
}

/** What may be sent from one address with tokens that nothing has accepted, unless settings say: as much as by so many callers. */
const CALLERS_OF_ADDRESS = 10;

type Policy = Exclude<keyof LimitSettings, 'windowMs' | 'maxKeys'>;

/** Names of the policies in `RateLimit`, and what a caller who meets one is told. */
const POLICIES: Readonly<Record<Policy, { readonly name: string; readonly detail: string }>> = {
  perCaller: {
    name: 'caller',
    detail: 'This caller has sent more requests than it may. Try again after Retry-After.',
  },
  perAddress: {
    name: 'address',
    detail:
      'More requests came from this address than may, with tokens not known to be accepted. Try again after Retry-After.',
  },
  rejectedPerAddress: {
    name: 'rejected',
    detail: 'Too many credentials from this address were refused. Try again after Retry-After.',
  },
  total: {
    name: 'total',
    detail: 'All callers together have sent more requests than are answered here. Try again after Retry-After.',
  },
};

/** How long a caller whose credential was accepted needs no place. */
const ACCEPTED_MS = 600_000;

/** The key of what all callers share. */
const ALL = 'all';

/** The limits that settings ask for; `undefined` where they ask for none. `shared`: how they hold for all replicas together. */
export function createLimits(options: LimitsOptions, shared?: SharedCounts): Limits | undefined {
  const { windowMs, maxKeys, perCaller: ofCaller, perAddress: ofAddress = ofCaller * CALLERS_OF_ADDRESS } = options;
  const quotas: Readonly<Record<Policy, number>> = { ...options, perAddress: ofAddress };
  function rateOf(policy: Policy): Rate | undefined {
    if (quotas[policy] === 0) return undefined;
    const rate = { quota: quotas[policy], windowMs, maxKeys };
    if (shared === undefined) return createRate(rate);
    // A window of another length is another count.
    const nameOf = (key: string) => shared.nameOf(`${policy} ${windowMs} ${key}`);
    return createSharedRate({ ...rate, counts: shared, nameOf });
  }
  const perCaller = rateOf('perCaller');
  const perAddress = rateOf('perAddress');
  const rejected = rateOf('rejectedPerAddress');
  const total = rateOf('total');
  // A table of its own: many addresses must not push out what all callers with a token share.
  const anonymous = rateOf('total');
  if ([perCaller, perAddress, rejected, total].every((rate) => rate === undefined)) return undefined;
  const reservations = rejected && createReservations(rejected, options.rejectedPerAddress);
  const accepted = createTtlSet({ ttlMs: ACCEPTED_MS, max: maxKeys, now: () => performance.now() });
  const { isJudged = () => false } = options;
  // Subseconds are unknown to the draft. Rounded up, a client that keeps to it keeps within the limit.
  const policyOf = (policy: Policy) => `"${POLICIES[policy].name}";q=${quotas[policy]};w=${seconds(windowMs)}`;
  const policies = {
    perCaller: policyOf('perCaller'),
    perAddress: policyOf('perAddress'),
    rejectedPerAddress: policyOf('rejectedPerAddress'),
    total: policyOf('total'),
  };

  /** `RateLimit-Policy` and `RateLimit`, as draft-ietf-httpapi-ratelimit-headers-11 has them. */
  function describe(exchange: Exchange, policy: Policy, { remaining, resetMs }: Standing): void {
    const state = `"${POLICIES[policy].name}";r=${remaining};t=${seconds(resetMs)}`;
    exchange.rateLimit = ['RateLimit-Policy', policies[policy], 'RateLimit', state];
  }

  function refuse(exchange: Exchange, policy: Policy, standing: Standing): never {
    describe(exchange, policy, standing);
    throw new GatewayError('rate_limited', {
      detail: POLICIES[policy].detail,
      retryAfterSeconds: seconds(standing.resetMs),
      bound: `limits.${policy}`,
    });
  }

  /** Whether the platform has accepted the access token of the caller: it received a list with its own token. */
  function wasAccepted({ gone, resource, error, members }: Exchange): boolean {
    if (members !== undefined) return members.some((one) => one.outcome === 'ok' && isJudged(one.resource ?? ''));
    return !gone && error === undefined && resource !== undefined && isJudged(resource);
  }

  async function lookAt(exchange: Exchange, policy: Policy, rate: Rate): Promise<void> {
    const standing = await rate.look(exchange.address);
    if (standing?.remaining === 0) refuse(exchange, policy, standing);
  }

  async function takeOf(exchange: Exchange, policy: Policy, key: string, units: number, rate?: Rate): Promise<void> {
    const standing = await rate?.take(key, units);
    if (standing?.isOver) refuse(exchange, policy, standing);
    if (standing !== undefined && policy === 'perCaller') describe(exchange, policy, standing);
  }

  return {
    checkAddress: (exchange) =>
      // While nobody is refused, nobody is looked up.
      rejected === undefined || rejected.keys === 0 ? undefined : lookAt(exchange, 'rejectedPerAddress', rejected),
    async count(exchange, caller, units) {
      const { address } = exchange;
      // A table of its own: what comes without a token takes nothing from callers with one.
      if (caller === undefined) return takeOf(exchange, 'total', `anonymous ${address}`, units, anonymous);
      const ofAddress = caller.verified !== undefined || accepted.has(caller.key) ? undefined : perAddress;
      // Looked at first: an address over its limit adds no key, which could have a caller forgotten.
      if (ofAddress !== undefined) await lookAt(exchange, 'perAddress', ofAddress);
      // What is refused by a limit takes nothing of those behind it.
      await takeOf(exchange, 'perCaller', countedAs(caller), units, perCaller);
      await takeOf(exchange, 'perAddress', address, units, ofAddress);
      await takeOf(exchange, 'total', ALL, units, total);
    },
    reserve: (exchange, callerKey) =>
      reservations === undefined || accepted.has(callerKey)
        ? undefined
        : reservations.take(exchange, exchange.address, (standing) => refuse(exchange, 'rejectedPerAddress', standing)),
    settle(exchange) {
      if (rejected === undefined && perAddress === undefined) return;
      const { address, callerKey, error } = exchange;
      if (isOfCredential(error)) {
        rejected?.take(address, 1);
        if (callerKey !== undefined) accepted.delete(callerKey);
      } else if (callerKey !== undefined && wasAccepted(exchange)) accepted.add(callerKey);
      reservations?.release(exchange);
    },
  };
}

/** A second at least: with 0, a client would come again at once. */
function seconds(ms: number): number {
  return Math.max(Math.ceil(ms / 1000), 1);
}
