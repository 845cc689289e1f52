import type { JWK, JWTVerifyGetKey } from 'jose';
import { GatewayError } from '../../core/kernel/errors.ts';
import type { Events } from '../../core/kernel/events.ts';
import type { Json } from '../../core/kernel/json-shape.ts';
import { jose, tooMany, unavailable, type VerificationSettings } from './verification-errors.ts';

interface KeySetOptions extends Pick<VerificationSettings['keys'], 'refreshMs' | 'cooldownMs'> {
  readonly issuer: string;
  /** Requests the keys. Rejects with `verifier_unavailable`. */
  load(): Promise<Json>;
  /** Tokens with unknown keys that wait at once. */
  readonly maxWaiting: number;
  readonly events: Events;
  /** Monotonic clock in milliseconds. */
  readonly now: () => number;
}

export type KeySet = ReturnType<typeof createKeySet>;

/** Keys of an issuer, by jose. They are used until replaced, for at most twice `refreshMs`. */
export function createKeySet({ issuer, load, refreshMs, cooldownMs, maxWaiting, events, now }: KeySetOptions) {
  const { createRemoteJWKSet, customFetch } = jose();
  let loadedAt = Number.NEGATIVE_INFINITY;
  let failure: { readonly error: GatewayError; readonly until: number } | undefined;
  let waiting = 0;

  /** jose counts its cool-down from the last success: a failing issuer is called once per cool-down as well. */
  async function fetchKeys(): Promise<Response> {
    if (failure !== undefined && now() < failure.until) throw failure.error;
    const startedAt = now();
    try {
      const keys = usableKeys(await load());
      loadedAt = startedAt;
      failure = undefined;
      events.issuerKeysFetched?.({ keys: keys.length });
      return Response.json({ keys });
    } catch (thrown) {
      const error = thrown instanceof GatewayError ? thrown : unavailable('the keys are unusable', thrown);
      failure = { error, until: now() + cooldownMs };
      events.issuerKeysFetched?.({ keys: 0, error });
      throw error;
    }
  }

  const remote = createRemoteJWKSet(new URL(issuer), {
    [customFetch]: fetchKeys,
    cooldownDuration: cooldownMs,
    // Their age is counted here, by a clock that is never set.
    cacheMaxAge: Number.POSITIVE_INFINITY,
  });

  /** Any key may have been withdrawn, so verification fails closed without keys of that age. */
  async function refreshed(): Promise<void> {
    const age = now() - loadedAt;
    if (age >= 2 * refreshMs) await remote.reload();
    else if (age >= refreshMs) remote.reload().catch(() => {});
  }

  const find: JWTVerifyGetKey = async (header, token) => {
    await refreshed();
    const isKnown = header.kid === undefined || remote.jwks()?.keys.some(({ kid }) => kid === header.kid);
    if (isKnown) return remote(header, token);
    if (waiting >= maxWaiting) throw tooMany();
    waiting += 1;
    try {
      return await remote(header, token);
    } finally {
      waiting -= 1;
    }
  };

  return {
    /** Rejects with `verifier_unavailable` or `overloaded`, or with an error of jose. */
    find,
    /** Requests the keys again. Returns `false` within the cool-down. */
    async renew(): Promise<boolean> {
      if (remote.coolingDown) return false;
      await remote.reload();
      return true;
    },
  };
}

/** NIST SP 800-56B, section 6.2. With exponent 3, one lax padding check is enough to forge a signature. */
const MIN_EXPONENT = 65_537;

/** Returns the keys of a set that may verify tokens. Others are ignored (RFC 7517, section 5), such as shared secrets. */
function usableKeys({ keys }: Json): JWK[] {
  if (!Array.isArray(keys)) throw unavailable('the issuer answered with something else than a set of keys');
  const usable = keys.filter(isUsable);
  if (usable.length === 0) throw unavailable('the issuer has no key that can be used');
  return usable;
}

const PUBLIC_TYPES: readonly unknown[] = ['RSA', 'EC', 'OKP'];

function isUsable({ kty, e = '' }: JWK): boolean {
  return PUBLIC_TYPES.includes(kty) && (kty !== 'RSA' || exponentOf(e) >= MIN_EXPONENT);
}

function exponentOf(e: string): number {
  return Number(`0x${Buffer.from(e, 'base64url').toString('hex')}`);
}
