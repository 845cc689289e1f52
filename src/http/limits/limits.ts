import { GatewayError, isOfCredential } from '../../kernel/errors.ts';
import { createTtlSet } from '../../kernel/tables/ttl-set.ts';
import type { Exchange } from '../exchange.ts';
import { createClientAddress } from './client-address.ts';
import { createRate, type Rate, type Standing } from './rate.ts';
import { createReservations } from './reservations.ts';
import { type SharedCounts, withSharedCounts } from './shared-rate.ts';

/** Settings of the limits; 0 is no limit. */
export interface LimitSettings {
  readonly windowMs: number;
  readonly perCaller: number;
  readonly rejectedPerAddress: number;
  readonly total: number;
  readonly maxKeys: number;
}

export interface LimitsOptions extends LimitSettings {
  readonly trustedProxies: readonly string[];
  /**
   * Resources that a caller is given only where the platform has accepted its access token. Whoever was given one needs no place
   * among those whose credential is being judged. @default each caller needs one
   */
  readonly judged?: readonly string[] | undefined;
}

/** How many requests are answered in a window of time. */
export interface Limits {
  /** Rejects with `rate_limited` where too many credentials from this address were refused. */
  checkAddress(exchange: Exchange): Promise<void> | undefined;
  /**
   * Counts so many requests of a caller; without one, of the address. Rejects with `rate_limited` where those are more than may
   * be sent.
   */
  count(exchange: Exchange, callerKey: string | undefined, units: number): Promise<void>;
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

type Policy = Exclude<keyof LimitSettings, 'windowMs' | 'maxKeys'>;

/** Names of the policies in `RateLimit`, and what a caller who meets one is told. */
const POLICIES: Readonly<Record<Policy, { readonly name: string; readonly detail: string }>> = {
  perCaller: {
    name: 'caller',
    detail: 'This caller has sent more requests than it may. Try again after Retry-After.',
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

/** What replicas count together, and under which names. */
export interface SharedLimits {
  readonly counts: SharedCounts;
  /** Keyed hash of a text: the same on all replicas, and nothing to those who see it. */
  readonly nameOf: (text: string) => string;
}

/** The limits that settings ask for; `undefined` where they ask for none. `shared`: how they hold for all replicas together. */
export function createLimits(options: LimitsOptions, shared?: SharedLimits): Limits | undefined {
  const { windowMs, maxKeys } = options;
  function rateOf(policy: Policy): Rate | undefined {
    if (options[policy] === 0) return undefined;
    const rate = createRate({ quota: options[policy], windowMs, maxKeys });
    if (shared === undefined) return rate;
    // A window of another length is another count.
    const nameOf = (key: string) => shared.nameOf(`${policy} ${windowMs} ${key}`);
    return withSharedCounts(rate, { counts: shared.counts, nameOf, windowMs, maxKeys });
  }
  const perCaller = rateOf('perCaller');
  const rejected = rateOf('rejectedPerAddress');
  const total = rateOf('total');
  // A table of its own: many addresses must not push out what all callers with a token share.
  const anonymous = rateOf('total');
  if (perCaller === undefined && rejected === undefined && total === undefined) return undefined;
  const reservations = rejected && createReservations(rejected, options.rejectedPerAddress);
  const accepted = createTtlSet({ ttlMs: ACCEPTED_MS, max: maxKeys, now: () => performance.now() });
  const judged = new Set(options.judged);
  const addressOf = createClientAddress(options.trustedProxies);
  // Subseconds are unknown to the draft. Rounded up, a client that keeps to it keeps within the limit.
  const policyOf = (policy: Policy) => `"${POLICIES[policy].name}";q=${options[policy]};w=${seconds(windowMs)}`;
  const policies = {
    perCaller: policyOf('perCaller'),
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

  /** Whether the platform has accepted the access token of the caller: it was given what is given to nobody else. */
  function wasAccepted({ gone, resource, error, members }: Exchange): boolean {
    if (members !== undefined) return members.some((one) => one.outcome === 'ok' && judged.has(one.resource ?? ''));
    return !gone && error === undefined && resource !== undefined && judged.has(resource);
  }

  async function lookAt(exchange: Exchange, rate: Rate): Promise<void> {
    const standing = await rate.look(addressOf(exchange));
    if (standing?.remaining === 0) refuse(exchange, 'rejectedPerAddress', standing);
  }

  return {
    checkAddress: (exchange) =>
      // While nobody is refused, nobody is looked up.
      rejected === undefined || rejected.keys === 0 ? undefined : lookAt(exchange, rejected),
    async count(exchange, callerKey, units) {
      if (perCaller !== undefined && callerKey !== undefined) {
        const standing = await perCaller.take(callerKey, units);
        if (standing.isOver) refuse(exchange, 'perCaller', standing);
        describe(exchange, 'perCaller', standing);
      }
      // What one caller sends beyond its own limit takes nothing from the others, nor does what comes without a token.
      const standing = await (callerKey === undefined
        ? anonymous?.take(`anonymous ${addressOf(exchange)}`, units)
        : total?.take(ALL, units));
      if (standing?.isOver) refuse(exchange, 'total', standing);
    },
    reserve: (exchange, callerKey) =>
      reservations === undefined || accepted.has(callerKey)
        ? undefined
        : reservations.take(exchange, addressOf(exchange), (standing) =>
            refuse(exchange, 'rejectedPerAddress', standing),
          ),
    settle(exchange) {
      if (rejected === undefined) return;
      const { callerKey, error } = exchange;
      if (isOfCredential(error)) {
        rejected.take(addressOf(exchange), 1);
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
