import { z } from 'zod';
import type { Report } from '../cross-check.ts';
import { issuer, printable, scopeToken, secureUrl } from '../scalars.ts';
import { checkSecret, SECRET_KEYS } from '../secret.ts';
import { checkCertificate, UpstreamProxySettings, UpstreamTlsSettings } from '../tls.ts';

const clientId = printable.describe('Client id of Portico at the authorization server.');

/** Secret of a client (RFC 6749, section 2.3.1). */
const bySecret = (kind: 'client_secret_basic' | 'client_secret_post', where: string) =>
  z.strictObject({
    kind: z.literal(kind).describe(`A secret, ${where}.`),
    id: clientId,
    ...SECRET_KEYS,
  });

/** Private key of a client (RFC 7523). */
const ByKey = z.strictObject({
  kind: z.literal('private_key_jwt').describe('Authentication by a signed JWT.'),
  id: clientId,
  keyFile: z
    .string()
    .min(1)
    .describe('PEM file of the private key: RSA (RS256), or EC on P-256, P-384 or P-521; reloaded when it changes.'),
  keyId: z.string().min(1).optional().describe('Key id (kid) at the authorization server.'),
});

/** Certificate of the connection (RFC 8705). */
const ByCertificate = z.strictObject({
  kind: z
    .literal('tls_client_auth')
    .describe('Authentication by the client certificate of tls (certFile and keyFile).'),
  id: clientId,
});

const Client = z.discriminatedUnion('kind', [
  bySecret('client_secret_basic', 'sent as Basic'),
  bySecret('client_secret_post', 'sent in the body'),
  ByKey,
  ByCertificate,
]);

const GRANT = {
  issuer: issuer
    .optional()
    .describe(
      'Issuer identifier of the authorization server, compared exactly; its metadata names the token endpoint. https, or http on loopback.',
    ),
  tokenUrl: secureUrl.optional().describe('Token endpoint. If set, metadata is not requested.'),
  audience: z.string().min(1).optional().describe('Audience that identifies the platform at the authorization server.'),
  resource: z
    .url({ error: () => 'must be a URL' })
    .refine((url) => !url.includes('#'), 'must not contain a fragment')
    .optional()
    .describe(
      'URL of the platform, as registered at the authorization server. An exchange needs either resource or audience.',
    ),
  scopes: z.array(scopeToken).default([]).describe('Scopes to request. Empty: the authorization server decides.'),
  client: Client.describe('Client authentication of Portico at the authorization server.'),
  tls: UpstreamTlsSettings.optional().describe('TLS settings for the authorization server.'),
  proxy: UpstreamProxySettings.optional().describe('Proxy between Portico and the authorization server. Unset: none.'),
};

/** Token exchange (RFC 8693). */
export const ExchangeCredential = z.strictObject({
  kind: z.literal('exchange').describe("A token for the platform, obtained in exchange for the caller's (RFC 8693)."),
  ...GRANT,
  subjectTokenType: z
    .enum(['access_token', 'jwt', 'id_token'])
    .default('access_token')
    .describe("Type of the caller's token (subject_token_type)."),
});

/** Client credentials (RFC 6749, section 4.4). */
export const ClientCredentials = z.strictObject({
  kind: z
    .literal('client-credentials')
    .describe(
      'A token of the deployment, obtained by the client credentials of Portico (RFC 6749, section 4.4), for all callers. Needs verification or allowUnverifiedCallers, as none does.',
    ),
  ...GRANT,
});

type Output = z.output<typeof ExchangeCredential> | z.output<typeof ClientCredentials>;

/** Checks the keys of a credential that is obtained by OAuth. */
export function checkGrant(credential: Output, report: Report): void {
  const { kind, issuer, tokenUrl, audience, resource, client, tls } = credential;
  if (issuer === undefined && tokenUrl === undefined) {
    report(['credential'], 'needs an authorization server: issuer or tokenUrl');
  }
  if (kind === 'exchange' && audience === undefined && resource === undefined) {
    report(['credential'], 'needs the platform that tokens are for: audience or resource');
  }
  if (client.kind === 'tls_client_auth' && (tls?.certFile === undefined || tls.keyFile === undefined)) {
    report(['credential', 'client'], 'needs a client certificate: tls.certFile and tls.keyFile of this credential');
  } else {
    checkCertificate(tls, ['credential', 'tls'], report);
  }
  if (client.kind === 'client_secret_basic' || client.kind === 'client_secret_post') {
    checkSecret(client, ['credential', 'client'], report);
  }
}
