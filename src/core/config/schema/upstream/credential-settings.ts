import { z } from 'zod';
import { credentialForm } from '../../../kernel/credential-kinds.ts';
import type { Report } from '../cross-check.ts';
import { NOT_IN_URL } from '../resource/request.ts';
import {
  baseUrl,
  expression,
  headerName,
  inboundHeader,
  milliseconds,
  requestHeaderName,
  userName,
} from '../scalars.ts';
import { checkSecret, SECRET_KEYS } from '../secret.ts';
import { ClientCredentials, checkGrant, ExchangeCredential } from './oauth-credentials.ts';

const Passthrough = z.strictObject({
  kind: z.literal('passthrough').describe("The caller's token, as Authorization: Bearer."),
});

const format = z
  .string()
  .regex(/^[\t\x20-\x7e]*$/, 'must be printable ASCII')
  .refine((text) => text.split('{token}').length === 2, 'must contain {token} exactly once');

const Header = z.strictObject({
  kind: z.literal('header').describe("The caller's token in another header or format."),
  name: requestHeaderName.describe('Name of the header.'),
  format: format.default('{token}').describe('Value of the header; {token} is replaced with the token.'),
  from: inboundHeader
    .optional()
    .describe(
      'Request header in which callers send a separate token for this upstream. Unset: the access token is used.',
    ),
});

const Service = z.strictObject({
  kind: z
    .literal('service')
    .describe(
      'A secret of the deployment, sent for all callers. Needs verification or allowUnverifiedCallers, as none does.',
    ),
  ...SECRET_KEYS,
  user: userName.optional().describe('User name; the secret is the password, and both are sent as Basic credentials.'),
  name: requestHeaderName.optional().describe('Name of the header; unset: Authorization.'),
  format: format
    .optional()
    .describe(
      'Value of the header. Unset: Bearer {token} for Authorization, {token} for other headers, Basic {token} with a user.',
    ),
  second: z
    .strictObject({
      ...SECRET_KEYS,
      name: requestHeaderName.describe('Name of the header.'),
      format: format.default('{token}').describe('Value of the header; {token} is replaced with the secret.'),
    })
    .optional()
    .describe('A second secret in a header of its own, such as the id of a key.'),
});

const Session = z.strictObject({
  kind: z
    .literal('session')
    .describe(
      "A token of the platform's own login, for all callers. Needs verification or allowUnverifiedCallers, as none does.",
    ),
  ...SECRET_KEYS,
  user: userName.optional().describe('User name; without a body, user and secret are sent as Basic credentials.'),
  loginUrl: baseUrl.describe(
    'URL of the login request, a POST. It is sent again after a 401 or at the end of lifetimeMs.',
  ),
  body: z
    .record(z.string(), z.unknown())
    .optional()
    .describe('JSON body of the login request. {user} and {secret} in its texts are replaced.'),
  token: expression
    .default('token')
    .describe('Token in the reply: JMESPath over the body, or header.NAME for a response header.'),
  cookie: headerName.optional().describe('Name of a cookie of the reply that is sent in place of a token.'),
  name: requestHeaderName.optional().describe('Name of the header; unset: Authorization.'),
  format: format
    .optional()
    .describe('Value of the header. Unset: Bearer {token} for Authorization, {token} for other headers.'),
  lifetimeMs: milliseconds(60_000).default(600_000).describe('Lifetime of the token, as the platform defines it.'),
});

const None = z.strictObject({
  kind: z
    .literal('none')
    .describe('No credential. Needs verification or allowUnverifiedCallers, which accepts any token.'),
});

/** Message for those whose platform documents a key in the query. */
function refuseQuery({ code, input }: { code?: string | undefined; input?: unknown }): string | undefined {
  if (code !== 'invalid_union' || Object(input).kind !== 'query') return undefined;
  return `query is none of them: a credential ${NOT_IN_URL}`;
}

export const CredentialSettings = z.discriminatedUnion(
  'kind',
  [Passthrough, Header, ExchangeCredential, ClientCredentials, Service, Session, None],
  { error: refuseQuery },
);

type Output = z.output<typeof CredentialSettings>;

/** Checks the keys of a credential against each other. */
export function checkCredential(credential: Output, report: Report): void {
  if (credential.kind === 'exchange' || credential.kind === 'client-credentials') checkGrant(credential, report);
  if (credential.kind === 'service' || credential.kind === 'session') checkSecret(credential, ['credential'], report);
  if (credential.kind === 'service' && credential.second !== undefined) {
    checkSecret(credential.second, ['credential', 'second'], report);
  }
  if (credential.kind === 'session' && credential.body === undefined && credential.user === undefined) {
    report(['credential'], 'needs user, for a login by Basic credentials, or body');
  }
}

/** Returns the names of the headers that carry a credential, in lower case. */
export function credentialHeaders(credential: Output): string[] {
  const own = credentialForm(credential)?.header;
  const second = credential.kind === 'service' ? credential.second?.name.toLowerCase() : undefined;
  return [own, second].filter((name) => name !== undefined);
}
