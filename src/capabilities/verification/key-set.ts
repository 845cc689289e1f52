import type { JWK, JWTVerifyGetKey } from 'jose';
import { GatewayError } from '../../core/kernel/errors.ts';
import type { Events } from '../../core/kernel/events.ts';
import type { Json } from '../../core/kernel/json-shape.ts';
import { jose, tooMany, unavailable, type VerificationSettings } from './verification-errors.ts';

interface KeySetOptions extends Pick<VerificationSettings['keys'], 'refreshMs' | 'cooldownMs'> {
  readonly issuer: string;
  /** Requests the keys. Rejects with `verifier_unavailable`. */
  load(): Promise<Json>;
  /** Tokens that wait for keys at once. Those with a known key do not wait. */
  readonly maxWaiting: number;
  readonly events: Events;
  /** Monotonic clock in milliseconds. */
  readonly now: () => number;
}

/**
 * Finds keys of an issuer, by jose. They are used until replaced, for at most twice `refreshMs`. Rejects with
 * `verifier_unavailable` or `overloaded`, or with an error of jose.
 */
export function createKeySet(options: KeySetOptions): JWTVerifyGetKey {
  const { issuer, load, refreshMs, cooldownMs, maxWaiting, events, now } = options;
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

  return async (header, token) => {
    const age = now() - loadedAt;
    // Any key may have been withdrawn, so verification fails closed without keys of that age.
    const isTooOld = age >= 2 * refreshMs;
    if (age >= refreshMs && !isTooOld) remote.reload().catch(() => {});
    const { keys = [] } = remote.jwks() ?? {};
    const isKnown = keys.some(({ kid }) => header?.kid === undefined || kid === header.kid);
    if (isKnown && !isTooOld) return remote(header, token);
    if (waiting >= maxWaiting) throw tooMany();
    waiting += 1;
    try {
      if (isTooOld) await remote.reload();
      return await remote(header, token);
    } finally {
      waiting -= 1;
    }
  };
}

/** NIST SP 800-56B, section 6.2. With exponent 3, one lax padding check is enough to forge a signature. */
const MIN_EXPONENT = 65_537;

/** Returns the keys of a set without weak ones. No algorithm that is allowed uses a shared secret. */
function usableKeys({ keys }: Json): JWK[] {
  if (!Array.isArray(keys)) throw unavailable('the issuer answered with something else than a set of keys');
  const exponentOf = ({ e = '' }: JWK) => Number(`0x${Buffer.from(e, 'base64url').toString('hex')}`);
  const usable = keys.filter((key: JWK) => key.kty !== 'RSA' || exponentOf(key) >= MIN_EXPONENT);
  if (usable.length === 0) throw unavailable('the issuer has no key that can be used');
  return usable;
}
