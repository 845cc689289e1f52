import { z } from 'zod';
import { issuer, milliseconds, printable, secureUrl } from './scalars.ts';
import { SECRET_KEYS } from './secret.ts';

const KeySettings = z.strictObject({
  url: secureUrl.optional().describe("URL of the issuer's keys (JWKS). Unset: taken from its metadata."),
});

const IntrospectionSettings = z.strictObject({
  url: secureUrl.optional().describe('Introspection endpoint of the issuer. Unset: taken from its metadata.'),
  clientId: printable.describe('Client id of Portico at the issuer, which must be allowed to introspect tokens.'),
  ...SECRET_KEYS,
});

export const VerificationSettings = z.strictObject({
  issuer: issuer.describe('Required issuer (iss) of a token, compared exactly.'),
  audience: z
    .union([z.string().min(1), z.array(z.string().min(1)).min(1)])
    .optional()
    .describe(
      'Accepted audiences; a token needs at least one of them (aud). Unset: publicUrl followed by /mcp, as MCP requires.',
    ),
  authorizationServers: z
    .array(issuer)
    .default([])
    .describe(
      'Issuers at which MCP clients can sign a user in. They are published (RFC 9728) and named in challenges; some clients then ignore a token in their settings. Needs publicUrl. Empty: nothing is published.',
    ),
  type: z
    .string()
    .regex(/^[\w!#$&^.+-]+(?:\/[\w!#$&^.+-]+)?$/, 'must be a media type such as at+jwt')
    .optional()
    .describe('Required type (typ) of a token, such as at+jwt (RFC 9068). Unset: any.'),
  scopeClaims: z
    .array(z.string().min(1))
    .min(1)
    .default(['scope', 'scp'])
    .describe('Claims that hold the scopes of a token, as a list or as text separated by spaces.'),
  partitionClaim: z
    .string()
    .min(1)
    .optional()
    .describe(
      'Claim, such as tenant, whose value defines which callers share stored lists. Set it only if the platforms return the same lists to all callers with the same value. Unset: lists are not shared.',
    ),
  rememberMs: milliseconds(0)
    .default(60_000)
    .describe('Time for which a verified token is accepted without another check, up to its end. 0: none.'),
  keys: KeySettings.prefault({}).describe('Keys that verify the signatures of tokens.'),
  introspection: IntrospectionSettings.optional().describe(
    'Introspection of tokens that are not JWTs (RFC 7662). Unset: they are rejected.',
  ),
});
