import { z } from 'zod';
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
  .refine((text) => text.split('{token}').length === 2, 'must hold {token} exactly once');

/** A header that means nothing else here. */
const inboundHeader = requestHeaderName.refine(
  (name) => !READ_HERE.has(name.toLowerCase()),
  'is a header that Portico reads itself',
);

const READ_HERE = new Set([
  ...['accept', 'authorization', 'cache-control', 'content-type', 'cookie', 'forwarded', 'origin', 'x-forwarded-for'],
  ...['access-control-request-headers', 'access-control-request-method', 'last-event-id', 'user-agent'],
  ...['mcp-method', 'mcp-name', 'mcp-protocol-version', 'mcp-session-id'],
]);

const Header = z.strictObject({
  kind: z.literal('header').describe("The caller's token, under another header or in another form."),
  name: requestHeaderName.describe('Name of the header.'),
  format: format.default('{token}').describe('Value of the header; {token} is replaced with the token.'),
  from: inboundHeader
    .optional()
    .describe("Header in which callers bring a token of their own for this upstream; unset: their access token's."),
});

const Service = z.strictObject({
  kind: z
    .literal('service')
    .describe(
      'A secret of the deployment, sent for every caller. Needs verification or allowUnverifiedCallers, like none.',
    ),
  ...SECRET_KEYS,
  user: userName.optional().describe('User whose password the secret is: both are sent as Basic.'),
  name: requestHeaderName.optional().describe('Name of the header; unset: Authorization.'),
  format: format
    .optional()
    .describe('Value of the header; unset: Bearer {token}, under another name {token}, with a user Basic {token}.'),
});

const None = z.strictObject({
  kind: z
    .literal('none')
    .describe('No credential. Needs verification, or allowUnverifiedCallers, which lets any token in.'),
});

/** Message for those whose platform documents a key in the query. */
function refuseQuery({ code, input }: { code?: string | undefined; input?: unknown }): string | undefined {
  if (code !== 'invalid_union' || Object(input).kind !== 'query') return undefined;
  return `query is none of them: a credential ${NOT_IN_URL}`;
}

const Retry = z.strictObject({
  attempts: whole(0, 2).default(2).describe('How often a request is repeated at most; 0: never.'),
});

const UpstreamShape = z.strictObject({
  baseUrl: baseUrl.describe('Where the API lives: origin and, where it has one, path prefix.'),
  credential: z
    .discriminatedUnion('kind', [Passthrough, Header, ExchangeCredential, Service, None], { error: refuseQuery })
    .prefault({ kind: 'passthrough' })
    .describe('What the upstream is given to know the caller.'),
  headers: z
    .record(requestHeaderName, scalarText)
    .prefault({})
    .describe('Headers sent with every request, beside the credential.'),
  tls: UpstreamTls.optional().describe(
    'How the upstream is known over TLS, and what it is shown. Unset: as Node does it.',
  ),
  proxy: UpstreamProxy.optional().describe(
    'Proxy between Portico and the upstream. Unset: none, even if HTTPS_PROXY is set in the environment.',
  ),
  timeoutMs: milliseconds()
    .default(10_000)
    .describe('Deadline of one read: connecting, all pages and their bodies together.'),
  connections: whole(1, 1024).default(32).describe('Open connections to this upstream.'),
  keptConnections: z
    .enum(['shared', 'perCaller'])
    .default('shared')
    .describe('Who may be served next over a connection that is kept open: any caller, or only the one before.'),
  retry: Retry.prefault({}).describe('When a request that failed is repeated.'),
  allowH2: z.boolean().default(false).describe('Whether HTTP/2 may be negotiated.'),
  maxPageBytes: bytes(1024).default(2_097_152).describe('Largest body of one page, before and after decompression.'),
});

type UpstreamOutput = z.output<typeof UpstreamShape>;

export const UpstreamSettings = withChecks(UpstreamShape, (upstream, report) => {
  const credential = credentialHeader(upstream?.credential);
  if (upstream?.credential?.kind === 'service') checkSecret(upstream.credential, ['credential'], report);
  checkExchange(upstream?.credential, report);
  for (const name of keysOf(upstream?.headers)) {
    if (name.toLowerCase() === credential) report(['headers', name], 'is the header of the credential');
  }
  checkTls(upstream, report);
});

function checkTls(upstream: Unchecked<UpstreamOutput>, report: Report): void {
  const { tls, baseUrl: url } = upstream ?? {};
  if (tls === undefined || tls === null) return;
  if (typeof url === 'string' && /^http:/i.test(url)) report(['tls'], 'goes with a baseUrl of https');
  checkCertificate(tls, ['tls'], report);
}

/** Name of the header that carries a credential, in lower case. */
function credentialHeader(credential: Unchecked<UpstreamOutput['credential']>): string | undefined {
  const { kind = 'passthrough', name } = (credential ?? {}) as { kind?: unknown; name?: unknown };
  if (kind === 'passthrough' || kind === 'exchange' || (kind === 'service' && name === undefined))
    return 'authorization';
  return typeof name === 'string' ? name.toLowerCase() : undefined;
}
