import { z } from 'zod';
import { type CrossCheck, keysOf } from './cross-check.ts';
import { issuer, printable, scopeToken, secureUrl } from './scalars.ts';
import { checkSecret, SECRET_KEYS } from './secret.ts';

const KeySettings = z.strictObject({
  url: secureUrl.optional().describe("Where the issuer's keys are (a JWKS); unset: where its metadata says."),
});

const IntrospectionSettings = z.strictObject({
  url: secureUrl.optional().describe('Where the issuer is asked about a token; unset: where its metadata says.'),
  clientId: printable.describe('Client id of Portico at the issuer, with the right to introspect.'),
  ...SECRET_KEYS,
});

export const VerificationSettings = z.strictObject({
  issuer: issuer.describe('Who must have issued a token: its iss, to the letter.'),
  audience: z
    .union([z.string().min(1), z.array(z.string().min(1)).min(1)])
    .optional()
    .describe('Whom a token must be for, one of these at least (aud). Unset: publicUrl and /mcp, as MCP has it.'),
  authorizationServers: z
    .array(issuer)
    .default([])
    .describe(
      'Issuers with whom MCP clients may have a person sign in. They are published (RFC 9728) and named in challenges; some clients then ignore a token in their settings. Needs publicUrl. Empty: nothing is published.',
    ),
  type: z
    .string()
    .regex(/^[\w!#$&^.+-]+(?:\/[\w!#$&^.+-]+)?$/, 'must be a media type such as at+jwt')
    .optional()
    .describe('Type that a token must say it is of (typ), such as at+jwt (RFC 9068). Unset: any.'),
  scopeClaims: z
    .array(z.string().min(1))
    .min(1)
    .default(['scope', 'scp'])
    .describe('Claims that name the scopes of a token: a text with spaces between them, or a list.'),
  impliedScopes: z
    .record(scopeToken, z.array(scopeToken).min(1))
    .prefault({})
    .describe('Scopes that another one implies: { admin: [write], write: [read] }.'),
  partitionClaim: z
    .string()
    .min(1)
    .optional()
    .describe(
      'Claim, such as tenant, by which callers share stored lists. Set it only if the platforms show the same lists to all callers with one value. Unset: callers share no lists.',
    ),
  keys: KeySettings.prefault({}).describe('The keys by which tokens are verified.'),
  introspection: IntrospectionSettings.optional().describe(
    'How the issuer is asked about tokens that are no JWT (RFC 7662). Unset: they are rejected.',
  ),
});

interface Beside {
  readonly publicUrl?: string | undefined;
  readonly verification?: z.output<typeof VerificationSettings> | undefined;
  readonly mcp: { readonly enabled: boolean };
  readonly resources: Readonly<Record<string, { readonly requiredScopes: readonly string[] }>>;
}

/** Checks that verification has an audience, and that scopes are not required without it. */
export const checkVerification: CrossCheck<Beside> = (settings, report) => {
  const { verification, publicUrl, mcp, resources } = settings ?? {};
  if (verification === undefined) {
    for (const name of keysOf(resources)) {
      if (keysOf(resources?.[name]?.requiredScopes).length === 0) continue;
      report(
        ['resources', name, 'requiredScopes'],
        'needs verification: without it, the scopes of a token are unknown',
      );
    }
    return;
  }
  if (verification?.audience === undefined && publicUrl === undefined) {
    report(['verification', 'audience'], 'is required where there is no publicUrl');
  }
  if (keysOf(verification?.authorizationServers).length > 0) {
    const path = ['verification', 'authorizationServers'];
    if (publicUrl === undefined) report(path, 'needs publicUrl: tokens are issued for that address');
    if (mcp?.enabled === false) report(path, 'needs mcp.enabled: tokens are issued for /mcp');
  }
  if (verification?.introspection !== undefined) {
    checkSecret(verification.introspection, ['verification', 'introspection'], report);
  }
};
