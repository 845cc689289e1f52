import { z } from 'zod';
import { crossCheck, keysOf } from './cross-check.ts';
import { bytes, issuer, milliseconds, scopeToken, secureUrl, whole } from './scalars.ts';
import { checkSecret, secretText } from './secret.ts';

/** Algorithms by which whoever can verify a token cannot make one (RFC 7518, section 3.1; RFC 8037; RFC 9864). */
const ALGORITHMS = [
  ...(['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'] as const),
  ...(['ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519'] as const),
] as const;

const KeySettings = z.strictObject({
  url: secureUrl.optional().describe("Where the issuer's keys are (a JWKS); unset: where its metadata says."),
  refreshMs: milliseconds(1000)
    .default(600_000)
    .describe(
      'Age at which keys are fetched again, in the background. At twice this age they are used no more: 503 until the issuer answers.',
    ),
  cooldownMs: milliseconds(1)
    .default(5000)
    .describe('How long the issuer is left alone after a fetch, also where a token names a key that is not known.'),
  maxBytes: bytes(1024)
    .default(131_072)
    .describe('Largest answer of the issuer: its keys, its metadata, what it knows of a token.'),
  maxKeys: whole(1, 1000).default(100).describe('Keys of one set; a larger set is not taken.'),
});

const IntrospectionSettings = z.strictObject({
  url: secureUrl.optional().describe('Where the issuer is asked about a token; unset: where its metadata says.'),
  clientId: z
    .string()
    .min(1)
    .regex(/^[\x20-\x7e]*$/, 'must be printable ASCII')
    .describe('By what the issuer knows Portico, which may introspect.'),
  file: z.string().min(1).optional().describe("File that holds Portico's own secret there, read anew when it changes."),
  secret: secretText.optional().describe('The secret itself, from the environment; instead of file.'),
});

/** Who may call: whose tokens are taken, and what they must say. */
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
  algorithms: z
    .array(z.enum(ALGORITHMS))
    .min(1)
    .default([...ALGORITHMS])
    .describe('Algorithms that a token may be signed with. Those with a shared secret, and none, cannot be chosen.'),
  type: z
    .string()
    .regex(/^[\w!#$&^.+-]+(?:\/[\w!#$&^.+-]+)?$/, 'must be a media type such as at+jwt')
    .optional()
    .describe('Type that a token must say it is of (typ), such as at+jwt (RFC 9068). Unset: any.'),
  leewayMs: whole(0, 300_000).default(5000).describe('By how much clocks may differ where a token begins or ends.'),
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
      'Claim, such as tenant, whose callers share stored answers: those for whom the platforms show the same. Unset: nobody shares.',
    ),
  keys: KeySettings.prefault({}).describe('The keys by which tokens are verified.'),
  introspection: IntrospectionSettings.optional().describe(
    'How the issuer is asked about tokens that are no JWT (RFC 7662). Unset: they are rejected.',
  ),
  timeoutMs: milliseconds().default(5000).describe('How long the issuer may take to answer.'),
  rememberMs: whole(0, 60_000)
    .default(60_000)
    .describe('How long a token that was verified is taken without another look, its end at most. 0: not at all.'),
  rememberRejectedMs: milliseconds(0).default(5000).describe('The same for one that was not accepted.'),
  maxRemembered: whole(1, 1_000_000)
    .default(10_000)
    .describe('Tokens that are remembered at once, of either kind; the one used longest ago makes room.'),
  maxVerifying: whole(1, 100_000)
    .default(1024)
    .describe(
      'Tokens that are verified at once, and as many that the issuer is asked about; of those that name a key which is not known, half. More are 503.',
    ),
});

/** What of other settings has to do with verification. */
interface Beside {
  readonly publicUrl?: string | undefined;
  readonly verification?: z.output<typeof VerificationSettings> | undefined;
  readonly mcp: { readonly enabled: boolean };
  readonly resources: Readonly<Record<string, { readonly requiredScopes: readonly string[] }>>;
}

/** Checks that verification knows whom tokens must be for, and that nothing is asked of callers whom nobody verifies. */
export const checkVerification = crossCheck<Beside>((settings, report) => {
  const { verification, publicUrl, mcp, resources } = settings ?? {};
  if (verification === undefined) {
    for (const name of keysOf(resources)) {
      if (keysOf(resources?.[name]?.requiredScopes).length === 0) continue;
      report(['resources', name, 'requiredScopes'], 'needs verification: nobody knows the scopes of a token');
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
});
