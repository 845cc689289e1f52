import type { OAuthServer } from '../../core/credentials/oauth-server.ts';
import type { Credential } from '../../core/kernel/caller.ts';
import { withDeadline } from '../../core/kernel/deadline.ts';
import { type Claims, issuerError, NO_CALLER, rejected } from './verification-errors.ts';

interface IntrospectOptions {
  readonly server: OAuthServer;
  readonly issuer: string;
  readonly audience: string | readonly string[];
  readonly leewayMs: number;
  readonly timeoutMs: number;
  /** Returns the secret of Portico as a client. */
  readonly secret: (signal: AbortSignal) => Promise<Credential>;
  readonly now: () => number;
}

/** Introspects opaque tokens (RFC 7662). Rejects with `credential_rejected`, or with `verifier_unavailable` if the issuer fails. */
export function createIntrospect(options: IntrospectOptions): (token: string) => Promise<Claims> {
  const { server, issuer, leewayMs, timeoutMs, secret, now } = options;
  const audience: readonly unknown[] = [options.audience].flat();

  async function fetchClaims(token: string, signal: AbortSignal): Promise<Claims> {
    const { ClientSecretBasic, tokenIntrospection } = await import('openid-client');
    return server.call({
      caller: NO_CALLER,
      signal,
      authenticate: async () => ClientSecretBasic((await secret(signal)).reveal()),
      request: (configuration) => tokenIntrospection(configuration, token, { token_type_hint: 'access_token' }),
    });
  }

  return async (token) => {
    const claims = await withDeadline(timeoutMs, new AbortController().signal, (signal) =>
      fetchClaims(token, signal),
    ).catch((error) => {
      throw issuerError(error, 0);
    });
    const { active, iss, aud, exp, nbf, token_type: type } = claims;
    const seconds = now() / 1000;
    const leeway = leewayMs / 1000;
    if (active !== true) throw rejected('its issuer does not report it as active');
    const wrong = [
      iss !== undefined && iss !== issuer && 'iss',
      // A reply without `aud` does not confirm that the token is for this server.
      ![aud].flat().some((one: unknown) => audience.includes(one)) && 'aud',
      exp !== undefined && !(exp > seconds - leeway) && 'exp',
      nbf !== undefined && !(nbf <= seconds + leeway) && 'nbf',
      type !== undefined && String(type).toLowerCase() !== 'bearer' && 'token_type',
    ].find((claim) => claim !== false);
    if (wrong !== undefined) throw rejected(`its ${wrong} is missing or not accepted`);
    return claims;
  };
}
