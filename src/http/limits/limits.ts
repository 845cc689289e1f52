import { GatewayError, isOfCredential } from '../../kernel/errors.ts';
import type { Exchange } from '../exchange.ts';
import { createClientAddress } from './client-address.ts';
import { createRate, type Rate, type Standing } from './rate.ts';
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
  /** Counts what came of a request: a credential that was refused counts against its address. */
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
    settle(exchange) {
      if (rejected !== undefined && isOfCredential(exchange.error)) rejected.take(addressOf(exchange), 1);
    },
  };
}

/** A second at least: with 0, a client would come again at once. */
function seconds(ms: number): number {
  return Math.max(Math.ceil(ms / 1000), 1);
}
