import type { JWK } from 'jose';
import { type AdapterFactory, type Configuration, Provider, type ResourceServer } from 'oidc-provider';
import { registerTokenExchange, TOKEN_EXCHANGE } from './token-exchange.ts';

/** The confidential client that is registered from the beginning: it may do all that clients do without a person. */
export const CLIENT = { id: 'portico', secret: 'secret-of-the-client' } as const;

/** A JWT (RFC 9068, typ `at+jwt`, ES256), or an opaque token. */
export type Format = 'jwt' | 'opaque';

export interface ProviderOptions {
  readonly issuer: string;
  /** Private ones: the first signs. */
  readonly keys: readonly JWK[];
  readonly store: AdapterFactory;
  readonly scopes: readonly string[];
  readonly format: Format;
  readonly seconds: number;
  /** Claims of a token beside those that any has. */
  readonly claimsOf: (token: object) => Readonly<Record<string, unknown>> | undefined;
  readonly onBug: (error: Error) => void;
}

/** What is known of any resource: each has the same scopes. */
export function resourceServer({ scopes, seconds }: ProviderOptions, format: Format): ResourceServer {
  return {
    scope: scopes.join(' '),
    accessTokenTTL: seconds,
    accessTokenFormat: format,
    jwt: { sign: { alg: 'ES256' } },
  };
}

/** oidc-provider with one client, a person who agrees to all, and tokens for whatever resource is asked for. */
export function createProvider(options: ProviderOptions): Provider {
  const { issuer, keys, store, scopes, format, seconds, claimsOf, onBug } = options;
  const provider = new Provider(issuer, {
    adapter: store,
    jwks: { keys: [...keys] } as Configuration['jwks'],
    clients: [
      {
        client_id: CLIENT.id,
        client_secret: CLIENT.secret,
        grant_types: ['client_credentials', TOKEN_EXCHANGE],
        redirect_uris: [],
        response_types: [],
      },
    ],
    clientDefaults: { id_token_signed_response_alg: 'ES256' },
    scopes: ['openid', 'offline_access', ...scopes],
    cookies: { keys: ['of the tests'] },
    findAccount: (_context, accountId) => ({ accountId, claims: () => ({ sub: accountId }) }),
    interactions: { url: (_context, { uid }) => `/interaction/${uid}` },
    pkce: { required: () => true },
    clientBasedCORS: () => true,
    renderError(context, out) {
      context.body = out;
    },
    extraTokenClaims: (_context, token) => claimsOf(token),
    ttl: {
      ...{ AccessToken: seconds, ClientCredentials: seconds, RefreshToken: 3600 },
      ...{ Grant: 3600, IdToken: 600, Interaction: 60, Session: 60 },
    },
    features: {
      devInteractions: { enabled: false },
      clientCredentials: { enabled: true },
      introspection: { enabled: true, allowedPolicy: () => true },
      registration: { enabled: true },
      revocation: { enabled: true, allowedPolicy: () => true },
      rpInitiatedLogout: { enabled: false },
      resourceIndicators: {
        enabled: true,
        defaultResource: (_context, _client, oneOf) => oneOf?.[0] ?? [],
        useGrantedResource: () => true,
        getResourceServerInfo: () => resourceServer(options, format),
      },
    },
  });
  registerTokenExchange(provider, keys, (resource) => ({ resource, ...resourceServer(options, format) }));
  provider.on('server_error', (_context, error) => onBug(error));
  return provider;
}

/** A person who signs in as `subject`, at the address to which oidc-provider sends a browser, and agrees to all. */
export async function agree(
  provider: Provider,
  subject: string,
  ...[request, response]: Parameters<Provider['interactionDetails']>
): Promise<void> {
  const { params } = await provider.interactionDetails(request, response);
  const { client_id: clientId, scope = '', resource } = params as Readonly<Record<string, string>>;
  const grant = new provider.Grant({ accountId: subject, clientId });
  grant.addOIDCScope(scope);
  if (resource !== undefined) grant.addResourceScope(resource, scope);
  const grantId = await grant.save();
  await provider.interactionFinished(request, response, { login: { accountId: subject }, consent: { grantId } });
}
