import { z } from 'zod';
import { credentialForm, isCredentialKind } from '../../../kernel/credential-kinds.ts';
import { keysOf, type Report, type Unchecked, withChecks } from '../cross-check.ts';
import { NOT_IN_URL } from '../resource/request.ts';
import { baseUrl, bytes, milliseconds, requestHeaderName, scalarText, userName, whole } from '../scalars.ts';
import { checkSecret, SECRET_KEYS } from '../secret.ts';
import { checkCertificate, UpstreamProxy, UpstreamTls } from '../tls.ts';
import { checkExchange, ExchangeCredential } from './exchange-credential.ts';

const Passthrough = z.strictObject({
  kind: z.literal('passthrough').describe("The caller's token, as Authorization: Bearer."),
});

const format = z
  .string()
  .regex(/^[\t\x20-\x7e]*$/, 'must be printable ASCII')
  .refine((text) => text.split('{token}').length === 2, 'must contain {token} exactly once');

/** A header that means nothing else here. */
const inboundHeader = requestHeaderName.refine(
  (name) => !READ_HERE.has(name.toLowerCase()),
  'is a header that Portico itself uses',
);

const READ_HERE = new Set([
  ...['accept', 'authorization', 'cache-control', 'content-type', 'cookie', 'forwarded', 'origin', 'x-forwarded-for'],
  ...['access-control-request-headers', 'access-control-request-method', 'last-event-id', 'user-agent'],
  ...['mcp-method', 'mcp-name', 'mcp-protocol-version', 'mcp-session-id'],
]);

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

const Retry = z.strictObject({
  attempts: whole(0, 2).default(2).describe('Maximum number of retries of a request. 0: none.'),
  statuses: z
    .array(whole(500, 599))
    .default([502, 503, 504])
    .describe('Statuses after which a request is retried. Add 500 for a platform whose errors pass.'),
});

const Breaker = z.strictObject({
  failurePercent: whole(1, 100)
    .default(50)
    .describe('The breaker opens when more than this share of the requests of the last 10 s failed. 100: never.'),
  minimumCalls: whole(1, 1_000_000).default(10).describe('Requests in 10 s below which the breaker stays closed.'),
  openMs: milliseconds()
    .default(5000)
    .describe('Time for which the breaker is open. Then one request tests the upstream.'),
});

const UpstreamShape = z.strictObject({
  baseUrl: baseUrl.describe('Base URL of the API: origin and optional path prefix.'),
  credential: z
    .discriminatedUnion('kind', [Passthrough, Header, ExchangeCredential, Service, None], { error: refuseQuery })
    .prefault({ kind: 'passthrough' })
    .describe('Credential that the upstream receives.'),
  headers: z
    .record(requestHeaderName, scalarText)
    .prefault({})
    .describe('Headers sent with every request, in addition to the credential.'),
  tls: UpstreamTls.optional().describe("TLS settings for the upstream. Unset: Node's defaults."),
  proxy: UpstreamProxy.optional().describe(
    'Proxy between Portico and the upstream. Unset: none, even if HTTPS_PROXY is set in the environment.',
  ),
  timeoutMs: milliseconds()
    .default(10_000)
    .describe('Deadline of one read, including queueing, connecting, retries and all pages.'),
  connections: whole(1, 1024).default(32).describe('Open connections to this upstream.'),
  retry: Retry.prefault({}).describe('Retries of failed requests.'),
  breaker: Breaker.prefault({}).describe(
    'The circuit breaker, which stops requests to the upstream while it is failing.',
  ),
  maxPageBytes: bytes(1024).default(2_097_152).describe('Largest body of one page, before and after decompression.'),
});

type UpstreamOutput = z.output<typeof UpstreamShape>;

export const UpstreamSettings = withChecks(UpstreamShape, (upstream, report) => {
  const credential = credentialHeader(upstream?.credential);
  if (upstream?.credential?.kind === 'service') checkSecret(upstream.credential, ['credential'], report);
  checkExchange(upstream?.credential, report);
  for (const name of keysOf(upstream?.headers)) {
    if (name.toLowerCase() === credential) report(['headers', name], 'is already the header of the credential');
  }
  checkTls(upstream, report);
});

function checkTls(upstream: Unchecked<UpstreamOutput>, report: Report): void {
  const { tls, baseUrl: url } = upstream ?? {};
  if (tls === undefined || tls === null) return;
  if (typeof url === 'string' && /^http:/i.test(url)) report(['tls'], 'needs a baseUrl with https');
  checkCertificate(tls, ['tls'], report);
}

/** Name of the header that carries a credential, in lower case. */
function credentialHeader(credential: Unchecked<UpstreamOutput['credential']>): string | undefined {
  const { kind = 'passthrough', name } = (credential ?? {}) as { kind?: unknown; name?: unknown };
  if (!isCredentialKind(kind) || (name !== undefined && typeof name !== 'string')) return undefined;
  return credentialForm({ kind, name })?.header;
}
