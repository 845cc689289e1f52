import type { JWTPayload } from 'jose';
import type { TokenEndpointResponse } from 'openid-client';
import type { OAuthServer } from '../../core/credentials/oauth-server.ts';
import { type ObtainedToken, obtainError } from '../../core/credentials/obtained-tokens.ts';
import { type Caller, Credential, TOKEN } from '../../core/kernel/caller.ts';
import type { AuthenticateClient, GrantSettings } from './client-authentication.ts';

interface RequestTokenOptions {
  readonly settings: GrantSettings;
  readonly server: OAuthServer;
  readonly authenticate: AuthenticateClient;
  readonly now: () => number;
}

const GRANT = 'urn:ietf:params:oauth:grant-type:token-exchange';
const TYPES = 'urn:ietf:params:oauth:token-type:';
const ISSUED: readonly unknown[] = [undefined, `${TYPES}access_token`, `${TYPES}jwt`];

/** Returns what requests a token for the platform. Rejects with a `GatewayError` that has `dependencyFailed`. */
export function createRequestToken({ settings, server, authenticate, now }: RequestTokenOptions) {
  const { client, kind } = settings;
  const byCertificate = client.kind === 'tls_client_auth' ? { use_mtls_endpoint_aliases: true } : undefined;

  return async (caller: Caller, signal: AbortSignal): Promise<ObtainedToken> => {
    const startedAt = now();
    const { clientCredentialsGrant, genericGrantRequest } = await import('openid-client');
    const parameters = parametersFor(caller, settings);
    const response = await server.call({
      caller,
      signal,
      authenticate,
      client: byCertificate,
      request: (configuration) =>
        kind === 'exchange'
          ? genericGrantRequest(configuration, GRANT, parameters)
          : clientCredentialsGrant(configuration, parameters),
    });
    return tokenFrom(response, settings, startedAt);
  };
}

/** RFC 8693, section 2.1, and RFC 6749, section 4.4.2. */
function parametersFor({ credential }: Caller, settings: GrantSettings): URLSearchParams {
  const { audience, resource, scopes } = settings;
  return new URLSearchParams({
    ...(settings.kind === 'exchange' && {
      subject_token: credential.reveal(),
      subject_token_type: TYPES + settings.subjectTokenType,
      requested_token_type: `${TYPES}access_token`,
    }),
    ...(audience !== undefined && { audience }),
    ...(resource !== undefined && { resource }),
    ...(scopes.length > 0 && { scope: scopes.join(' ') }),
  });
}

/** `startedAt`: time of the request. */
async function tokenFrom(
  response: TokenEndpointResponse,
  settings: GrantSettings,
  startedAt: number,
): Promise<ObtainedToken> {
  const { access_token: token, token_type: type, issued_token_type: issued, expires_in: seconds } = response;
  if (type !== 'bearer' || !ISSUED.includes(issued)) throw unusable('the token is no bearer token');
  if (!TOKEN.test(token)) throw unusable('the token cannot be sent in a header');
  const claims = await claimsOf(token);
  // Of a token that is not the caller's, platforms write `aud` as they like.
  if (settings.kind === 'exchange' && claims !== undefined && !isFor(claims.aud, settings)) {
    throw unusable('the token is for another audience than requested');
  }
  const ends = [seconds, claims && secondsUntil(claims.exp, startedAt)].filter((each) => each !== undefined);
  if (ends.some((end) => !(end > 0))) throw unusable('the token has already expired');
  return {
    credential: new Credential(token),
    expiresAt: ends.length === 0 ? undefined : startedAt + Math.min(...ends) * 1000,
  };
}

/** Returns the unverified claims of a JWT (RFC 7519); `undefined` for opaque tokens. */
async function claimsOf(token: string): Promise<JWTPayload | undefined> {
  const { decodeJwt } = await import('jose');
  try {
    return decodeJwt(token);
  } catch {
    return undefined;
  }
}

/** Seconds from `startedAt` until a NumericDate (RFC 7519, section 2). */
function secondsUntil(claim: unknown, startedAt: number): number | undefined {
  return typeof claim === 'number' ? claim - startedAt / 1000 : undefined;
}

/** Returns whether `aud` contains the requested audience (RFC 7519, section 4.1.3). A missing one does not. */
function isFor(aud: unknown, { audience, resource }: GrantSettings): boolean {
  return [aud].flat().some((each) => each !== undefined && (each === audience || each === resource));
}

function unusable(why: string) {
  return obtainError('upstream_invalid', `authorization server: ${why}`);
}
