import type { JWTVerifyGetKey } from 'jose';
import { GatewayError } from '../../core/kernel/errors.ts';
import type { Events } from '../../core/kernel/events.ts';
import { jose, unavailable, type VerificationConfig } from './verification-errors.ts';

interface KeySetOptions extends Pick<VerificationConfig['keys'], 'refreshMs' | 'cooldownMs'> {
  readonly issuer: string;
  /** Requests the keys. Rejects with `verifier_unavailable`. */
  load(): Promise<unknown>;
  readonly events: Events;
  /** Monotonic clock in milliseconds. */
  readonly now: () => number;
}

/**
 * Finds keys of an issuer, by jose. They are used until replaced, for at most twice `refreshMs`; a token with a known key waits for
 * no others. Rejects with `verifier_unavailable`, or with an error of jose.
 */
export function createKeySet(options: KeySetOptions): JWTVerifyGetKey {
  const { issuer, load, refreshMs, cooldownMs, events, now } = options;
  const { createRemoteJWKSet, customFetch } = jose();
  let loadedAt = Number.NEGATIVE_INFINITY;
  let failure: { readonly error: GatewayError; readonly until: number } | undefined;

  /** jose counts its cool-down from the last success: a failing issuer is called once per cool-down as well. */
  async function fetchKeys(): Promise<Response> {
    if (failure !== undefined && now() < failure.until) throw failure.error;
    const startedAt = now();
    try {
      const { keys } = Object(await load());
      if (!Array.isArray(keys) || keys.length === 0) throw unavailable('the issuer answered without keys');
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
    if (age >= 2 * refreshMs) await remote.reload();
    else if (age >= refreshMs) remote.reload().catch(() => {});
    return remote(header, token);
  };
}
