import { z } from 'zod';
import { withChecks } from '../cross-check.ts';
import { baseUrl, bytes, inboundHeader, milliseconds, requestHeaderName, scalarText, whole } from '../scalars.ts';
import { checkCertificate, UpstreamProxySettings, UpstreamTlsSettings } from '../tls.ts';
import { CredentialSettings, checkCredential, credentialHeaders } from './credential-settings.ts';

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
  credential: CredentialSettings.prefault({ kind: 'passthrough' }).describe('Credential that the upstream receives.'),
  headers: z
    .record(requestHeaderName, scalarText)
    .prefault({})
    .describe('Headers sent with every request, in addition to the credential.'),
  forwardHeaders: z
    .array(inboundHeader)
    .max(8)
    .default([])
    .describe(
      'Headers of the caller that are passed on, such as X-Tenant-ID. Callers with other values share no list.',
    ),
  tls: UpstreamTlsSettings.optional().describe("TLS settings for the upstream. Unset: Node's defaults."),
  proxy: UpstreamProxySettings.optional().describe(
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
  conditional: z
    .boolean()
    .default(true)
    .describe(
      'Whether entity tags of replies are sent back. false: for a platform whose tags do not change with the list.',
    ),
  cachedReplies: z
    .enum(['error', 'allow'])
    .default('error')
    .describe(
      "A reply from a shared cache that can be another caller's. It has Age or X-Cache: HIT, and its Vary does not name the header of the credential.",
    ),
  maxPageBytes: bytes(1024).default(2_097_152).describe('Largest body of one page, before and after decompression.'),
});

export const UpstreamSettings = withChecks(UpstreamShape, (upstream, report) => {
  const { credential, headers, forwardHeaders, tls, baseUrl: url } = upstream;
  checkCredential(credential, report);
  const taken = credentialHeaders(credential);
  const set = Object.keys(headers);
  for (const name of set) {
    if (taken.includes(name.toLowerCase())) report(['headers', name], 'is already the header of the credential');
  }
  const sent = [...taken, ...set.map((name) => name.toLowerCase())];
  for (const [index, name] of forwardHeaders.entries()) {
    if (sent.includes(name.toLowerCase())) {
      report(['forwardHeaders', index], 'is already sent by headers or credential');
    }
  }
  if (tls !== undefined && /^http:/i.test(url)) report(['tls'], 'needs a baseUrl with https');
  checkCertificate(tls, ['tls'], report);
});
