import { z } from 'zod';
import type { Report, Unchecked } from '../cross-check.ts';
import { issuer, printable, scopeToken, secureUrl } from '../scalars.ts';
import { checkSecret, SECRET_KEYS } from '../secret.ts';
import { checkCertificate, UpstreamProxy, UpstreamTls } from '../tls.ts';

const clientId = printable.describe('Name of Portico at the authorization server.');

/** Secret of a client (RFC 6749, section 2.3.1). */
const bySecret = (kind: 'client_secret_basic' | 'client_secret_post', where: string) =>
  z.strictObject({
    kind: z.literal(kind).describe(`A secret, ${where}.`),
    id: clientId,
    ...SECRET_KEYS,
  });

/** Private key of a client (RFC 7523). */
const ByKey = z.strictObject({
  kind: z.literal('private_key_jwt').describe('A key that signs who asks.'),
  id: clientId,
  keyFile: z
    .string()
    .min(1)
    .describe('PEM file of the private key: RSA (RS256), or EC on P-256, P-384 or P-521; reloaded when it changes.'),
  keyId: z.string().min(1).optional().describe('Name of the key at the authorization server.'),
});

/** Certificate of the connection (RFC 8705). */
const ByCertificate = z.strictObject({
  kind: z.literal('tls_client_auth').describe('The certificate of tls, beside client: certFile and keyFile.'),
  id: clientId,
});

const Client = z.discriminatedUnion('kind', [
  bySecret('client_secret_basic', 'sent as Basic'),
  bySecret('client_secret_post', 'sent in the body'),
  ByKey,
  ByCertificate,
]);

/** Token exchange (RFC 8693). */
export const ExchangeCredential = z.strictObject({
  kind: z.literal('exchange').describe("A token that is made for the platform in exchange for the caller's."),
  issuer: issuer
    .optional()
    .describe(
      'Authorization server, to the letter, whose metadata name its token endpoint. https; on loopback http too.',
    ),
  tokenUrl: secureUrl.optional().describe('The token endpoint itself; metadata are then not looked for.'),
  audience: z.string().min(1).optional().describe('What the authorization server calls the platform.'),
  resource: z
    .url({ error: () => 'must be a URL' })
    .refine((url) => !url.includes('#'), 'must hold no fragment')
    .optional()
    .describe(
      'Address of the platform, as registered at the authorization server. Either resource or audience is required.',
    ),
  scopes: z.array(scopeToken).default([]).describe('Scopes to ask for; none: what the authorization server gives.'),
  subjectTokenType: z
    .enum(['access_token', 'jwt', 'id_token'])
    .default('access_token')
    .describe("Type of the caller's token, as sent to the authorization server."),
  client: Client.describe('How Portico shows the authorization server who it is.'),
  tls: UpstreamTls.optional().describe('How the authorization server is spoken to over TLS.'),
  proxy: UpstreamProxy.optional().describe('Proxy between Portico and the authorization server. Unset: none.'),
});

type Output = z.output<typeof ExchangeCredential>;

/** What one key cannot say of another. */
export function checkExchange(credential: Unchecked<Output | { readonly kind: unknown }>, report: Report): void {
  if (credential?.kind !== 'exchange') return;
  const { issuer, tokenUrl, audience, resource, client, tls } = credential as NonNullable<Unchecked<Output>>;
  if (issuer === undefined && tokenUrl === undefined) {
    report(['credential'], 'needs an authorization server: issuer, or tokenUrl');
  }
  if (audience === undefined && resource === undefined) {
    report(['credential'], 'needs the platform that tokens are for: audience, or resource');
  }
  if (client?.kind === 'tls_client_auth' && (tls?.certFile === undefined || tls.keyFile === undefined)) {
    report(['credential', 'client'], 'needs a certificate: certFile and keyFile in tls beside it');
  } else {
    checkCertificate(tls, ['credential', 'tls'], report);
  }
  if (client?.kind === 'client_secret_basic' || client?.kind === 'client_secret_post') {
    checkSecret(client, ['credential', 'client'], report);
  }
}
