import type { JSONWebKeySet, JWK, JWTVerifyGetKey } from 'jose';
import { GatewayError } from '../../core/kernel/errors.ts';
import type { Events } from '../../core/kernel/events.ts';
import type { Json } from '../../core/kernel/json-shape.ts';
import type { Issuer } from './issuer.ts';
import { jose, tooMany, unavailable, type VerificationSettings } from './outcome.ts';

export interface KeySetOptions extends Pick<VerificationSettings['keys'], 'url' | 'refreshMs' | 'cooldownMs'> {
  readonly issuer: Issuer;
  readonly maxWaiting: number;
  readonly events: Events;
  /** Monotonic clock in milliseconds. */
  readonly now: () => number;
}

/** NIST SP 800-56B, section 6.2. With exponent 3, one lax padding check is enough to forge a signature. */
const MIN_EXPONENT = 65_537;

export type KeySet = ReturnType<typeof createKeySet>;

/** The keys of an issuer. Fetched keys are used until replaced, for at most twice `refreshMs`. */
export function createKeySet(options: KeySetOptions) {
  const { createLocalJWKSet } = jose();
  const { issuer, url, refreshMs, cooldownMs, maxWaiting, events, now } = options;
  let held: { readonly find: JWTVerifyGetKey; readonly fetchedAt: number } | undefined;
  let lastFetchAt = Number.NEGATIVE_INFINITY;
  let lastError: GatewayError | undefined;
  let fetching: Promise<JWTVerifyGetKey> | undefined;
  let waiting = 0;

  async function load(): Promise<JWTVerifyGetKey> {
    const fetchedAt = now();
    try {
      const keys = usableKeys(await issuer.fetchJson(url ?? (await issuer.endpoint('jwks_uri'))));
      const find = createLocalJWKSet({ keys } as JSONWebKeySet);
      held = { find, fetchedAt };
      lastError = undefined;
      events.issuerKeysFetched?.({ keys: keys.length });
      return find;
    } catch (error) {
      issuer.forget();
      lastError = error instanceof GatewayError ? error : unavailable('the keys are unusable', error);
      events.issuerKeysFetched?.({ keys: 0, error: lastError });
      throw lastError;
    } finally {
      lastFetchAt = now();
      fetching = undefined;
    }
  }

  function fetchKeys(): Promise<JWTVerifyGetKey> {
    fetching ??= load();
    return fetching;
  }

  const isCoolingDown = () => now() - lastFetchAt < cooldownMs;

  return {
    /** Rejects with `verifier_unavailable` without keys of that age. */
    async current(): Promise<JWTVerifyGetKey> {
      const age = held === undefined ? Number.POSITIVE_INFINITY : now() - held.fetchedAt;
      if (held !== undefined && age < 2 * refreshMs) {
        // A failure is an event: the previous keys stay valid until they are too old.
        if (age >= refreshMs && !isCoolingDown()) fetchKeys().catch(() => {});
        return held.find;
      }
      // Any of these keys may have been withdrawn, so verification fails closed. A failing issuer is called once per
      // cool-down.
      if (fetching === undefined && isCoolingDown() && lastError !== undefined) throw lastError;
      return fetchKeys();
    },
    /** Returns keys of a later fetch; `undefined` within the cool-down. Rejects with `verifier_unavailable` or `overloaded`. */
    async newer(): Promise<JWTVerifyGetKey | undefined> {
      if (fetching === undefined && isCoolingDown()) return undefined;
      if (waiting >= maxWaiting) throw tooMany();
      waiting += 1;
      try {
        return await fetchKeys();
      } finally {
        waiting -= 1;
      }
    },
  };
}

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
