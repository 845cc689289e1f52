import type { ClientAuthorization } from '../../core/credentials/client-secret.ts';
import { GatewayError } from '../../core/kernel/errors.ts';
import type { Issuer } from './issuer.ts';
import { type Claims, rejected } from './outcome.ts';

export interface IntrospectOptions {
  readonly issuer: Issuer;
  /** Its endpoint; `undefined`: from the metadata. */
  readonly url?: string | undefined;
  readonly name: string;
  readonly audience: string | readonly string[];
  readonly leewayMs: number;
  readonly authorization: ClientAuthorization;
  readonly now: () => number;
}

/** Introspects opaque tokens (RFC 7662). Rejects with `credential_rejected`, or with `verifier_unavailable` if the issuer fails. */
export function createIntrospect(options: IntrospectOptions): (token: string) => Promise<Claims> {
  const { issuer, url, name, leewayMs, authorization, now } = options;
  const audience: readonly unknown[] = [options.audience].flat();

  async function fetchClaims(token: string): Promise<Claims> {
    const body = new URLSearchParams({ token, token_type_hint: 'access_token' }).toString();
    try {
      return await issuer.fetchJson(url ?? (await issuer.endpoint('introspection_endpoint')), async (signal) => ({
        authorization: await authorization(signal),
        body,
      }));
    } catch (error) {
      if (mayHaveMoved(error)) issuer.forget();
      throw error;
    }
  }

  return async (token) => {
    const claims = await fetchClaims(token);
    const { active, iss, aud, exp, nbf, token_type: type } = claims;
    const seconds = now() / 1000;
    const leeway = leewayMs / 1000;
    if (active !== true) throw rejected('its issuer does not report it as active');
    if (iss !== undefined && iss !== name) throw rejected('another issuer issued it');
    // A reply without `aud` does not confirm that the token is for this server.
    if (![aud].flat().some((one: unknown) => audience.includes(one))) throw rejected('it is not for this server');
    if (!isTime(exp) || !isTime(nbf)) throw rejected('its claims are malformed');
    if (exp !== undefined && exp <= seconds - leeway) throw rejected('it has expired');
    if (nbf !== undefined && nbf > seconds + leeway) throw rejected('it is not good yet');
    if (type !== undefined && String(type).toLowerCase() !== 'bearer') throw rejected('it is no bearer token');
    return claims;
  };
}

/** Whether the metadata may have changed. Requesting it after each failure would count as a success for the breaker. */
function mayHaveMoved(error: unknown): boolean {
  const { cause } = Object(error);
  return !(cause instanceof GatewayError) || cause.code === 'breaker_open';
}

function isTime(value: unknown): value is number | undefined {
  return value === undefined || Number.isFinite(value);
}
