import { createLocalJWKSet, type JWK, jwtVerify } from 'jose';
import {
  type AdapterFactory,
  type AdapterPayload,
  type Configuration,
  errors,
  Provider,
  type ResourceServer,
} from 'oidc-provider';

const TOKEN_EXCHANGE = 'urn:ietf:params:oauth:grant-type:token-exchange';
const TYPES = ['access_token', 'jwt'].map((name) => `urn:ietf:params:oauth:token-type:${name}`);

/** What may be asked for, for any resource, and how long tokens hold. */
export const SCOPES = ['read', 'admin'];
export const SECONDS = 600;

/** The confidential client that is registered from the beginning: it may do all that clients do without a person. */
export const CLIENT = { id: 'portico', secret: 'secret-of-the-client' } as const;

export type Format = 'jwt' | 'opaque';

interface ProviderOptions {
  readonly issuer: string;
  /** A private one, which signs. */
  readonly key: JWK;
  /** Claims of a token beside those that any has. */
  readonly claimsOf: (token: object) => Readonly<Record<string, unknown>> | undefined;
  readonly onBug: (error: Error) => void;
}

/** What is known of any resource: each has the same scopes. */
export function resourceServer(format: Format): ResourceServer {
  const scope = SCOPES.join(' ');
  return { scope, accessTokenTTL: SECONDS, accessTokenFormat: format, jwt: { sign: { alg: 'ES256' } } };
}

/** oidc-provider with one client, a person who agrees to all, and tokens for whatever resource is asked for. */
export function createProvider(options: ProviderOptions): Provider {
  const { issuer, key, claimsOf, onBug } = options;
  const provider = new Provider(issuer, {
    adapter: createStore(),
    jwks: { keys: [key] } as Configuration['jwks'],
    clients: [
      {
        client_id: CLIENT.id,
        client_secret: CLIENT.secret,
        grant_types: [TOKEN_EXCHANGE],
        redirect_uris: [],
        response_types: [],
      },
    ],
    clientDefaults: { id_token_signed_response_alg: 'ES256' },
    scopes: ['openid', 'offline_access', ...SCOPES],
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
      ...{ AccessToken: SECONDS, RefreshToken: 3600 },
      ...{ Grant: 3600, IdToken: 600, Interaction: 60, Session: 60 },
    },
    features: {
      devInteractions: { enabled: false },
      introspection: { enabled: true, allowedPolicy: () => true },
      registration: { enabled: true },
      revocation: { enabled: true, allowedPolicy: () => true },
      rpInitiatedLogout: { enabled: false },
      resourceIndicators: {
        enabled: true,
        defaultResource: (_context, _client, oneOf) => oneOf?.[0] ?? [],
        useGrantedResource: () => true,
        getResourceServerInfo: () => resourceServer('jwt'),
      },
    },
  });
  registerTokenExchange(provider, key);
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

const PARAMS = [
  'subject_token',
  'subject_token_type',
  'requested_token_type',
  'audience',
  'resource',
  'scope',
] as const;

/**
 * RFC 8693: a JWT of this server, whoever it is for, against one of the same person for the `resource` or `audience` that is named,
 * with the scopes of the first one or those of them that are asked for.
 */
function registerTokenExchange(provider: Provider, { d: _private, ...key }: JWK): void {
  const known = createLocalJWKSet({ keys: [key] });
  provider.registerGrantType<{ readonly [Name in (typeof PARAMS)[number]]?: string }>(
    TOKEN_EXCHANGE,
    async (context) => {
      const { client, params } = context.oidc;
      const { subject_token = '', subject_token_type = '', audience, resource = audience } = params;
      if (!TYPES.includes(subject_token_type)) throw new errors.InvalidRequest('the type of subject_token is needed');
      const { payload } = await jwtVerify(subject_token, known, { issuer: provider.issuer }).catch(() => {
        throw new errors.InvalidRequest('subject_token is invalid');
      });
      if (resource === undefined) throw new errors.InvalidTarget('audience or resource is needed');
      const scope = params.scope ?? String(payload['scope'] ?? '');
      const token = new provider.AccessToken({
        ...{ accountId: String(payload.sub), client, grantId: '', gty: 'token_exchange', scope },
        resourceServer: new provider.ResourceServer(resource, resourceServer('jwt')),
      });
      context.body = {
        ...{ access_token: await token.save(), issued_token_type: TYPES[0], token_type: 'Bearer' },
        ...{ expires_in: token.expiration, scope },
      };
    },
    [...PARAMS],
  );
}

/** What an authorization server remembers, in memory. oidc-provider's own store warns on standard error. */
function createStore(): AdapterFactory {
  const payloads = new Map<string, AdapterPayload>();
  return (model) => {
    const keyOf = (id: string) => `${model}:${id}`;
    return {
      async upsert(id, payload) {
        payloads.set(keyOf(id), payload);
      },
      find: async (id) => payloads.get(keyOf(id)),
      findByUid: async (uid) =>
        payloads.entries().find(([key, payload]) => key.startsWith(keyOf('')) && payload.uid === uid)?.[1],
      findByUserCode: async () => undefined,
      async consume(id) {
        Object.assign(payloads.get(keyOf(id)) ?? {}, { consumed: Math.floor(Date.now() / 1000) });
      },
      async destroy(id) {
        payloads.delete(keyOf(id));
      },
      async revokeByGrantId(grantId) {
        for (const [key, payload] of payloads) {
          if (payload.grantId === grantId) payloads.delete(key);
        }
      },
    };
  };
}
