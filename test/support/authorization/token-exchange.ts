import { createLocalJWKSet, type JWK, type JWTPayload, jwtVerify } from 'jose';
import { errors, type Provider, type ResourceServer } from 'oidc-provider';

export const TOKEN_EXCHANGE = 'urn:ietf:params:oauth:grant-type:token-exchange';

const TYPES = ['access_token', 'jwt'].map((name) => `urn:ietf:params:oauth:token-type:${name}`);

/** Of a request (RFC 8693, section 2.1); what a client cannot send twice may come once. */
interface Params {
  readonly subject_token?: string;
  readonly subject_token_type?: string;
  readonly requested_token_type?: string;
  readonly audience?: string;
  readonly resource?: string;
  readonly scope?: string;
  readonly [name: string]: unknown;
}

/**
 * RFC 8693: a token of this server, whoever it is for, against one of the same person for the `resource` or `audience`
 * that is named, with the scopes of the first one or those of them that are asked for.
 */
export function registerTokenExchange(
  provider: Provider,
  keys: readonly JWK[],
  resourceServer: (resource: string) => ResourceServer & { readonly resource: string },
): void {
  const known = createLocalJWKSet({ keys: keys.map(({ d: _private, ...key }) => key) });

  async function subjectOf(token: string): Promise<{ subject: string; scope: string }> {
    const stored = (await provider.AccessToken.find(token)) ?? (await provider.ClientCredentials.find(token));
    if (stored !== undefined) {
      const subject = 'accountId' in stored ? stored.accountId : stored.clientId;
      return { subject: String(subject), scope: stored.scope ?? '' };
    }
    const { payload }: { payload: JWTPayload } = await jwtVerify(token, known, { issuer: provider.issuer }).catch(
      () => {
        throw new errors.InvalidRequest('subject_token is invalid');
      },
    );
    return { subject: String(payload.sub), scope: String(payload.scope ?? '') };
  }

  provider.registerGrantType<Params>(
    TOKEN_EXCHANGE,
    async (context) => {
      const { client, params } = context.oidc;
      const { subject_token, subject_token_type = '', audience, resource = audience } = params;
      if (subject_token === undefined || !TYPES.includes(subject_token_type)) {
        throw new errors.InvalidRequest('subject_token and its type are needed');
      }
      const { subject, scope } = await subjectOf(subject_token);
      if (resource === undefined) throw new errors.InvalidTarget('audience or resource is needed');
      const asked = params.scope ?? scope;
      if (!asked.split(' ').every((one) => scope.split(' ').includes(one))) {
        throw new errors.InvalidScope('the subject token has not all of these scopes', asked);
      }
      const token = new provider.AccessToken({
        accountId: subject,
        client,
        grantId: '',
        gty: 'token_exchange',
        resourceServer: new provider.ResourceServer(resource, resourceServer(resource)),
        scope: asked,
      });
      context.body = {
        access_token: await token.save(),
        issued_token_type: TYPES[0],
        token_type: 'Bearer',
        expires_in: token.expiration,
        scope: asked,
      };
    },
    ['subject_token', 'subject_token_type', 'requested_token_type', 'audience', 'resource', 'scope'],
  );
}
