import { expect } from 'chai';
import { createOAuthServer, gatewayErrorIn, oauthCodeIn } from '../../../src/core/credentials/oauth-server.ts';
import { GatewayError } from '../../../src/core/kernel/errors.ts';
import { openServer } from '../../../src/core/upstream/open-upstream.ts';
import { callerWith } from '../../support/authorization/caller.ts';
import { onCleanup } from '../../support/cleanup.ts';
import { type HttpUpstream, json, startHttpUpstream } from '../../support/platform/http-upstream.ts';

const OAUTH = '/.well-known/oauth-authorization-server';
const OIDC = '/.well-known/openid-configuration';

/** An authorization server, whose failures are `verifier_unavailable` with a status and a code. */
function serverAt(issuer: string, { maxBytes = 8192, timeoutMs = 10_000 } = {}) {
  const { send, close } = openServer({
    ...{ name: 'issuer', tls: undefined, proxy: undefined, connections: 16, maxQueue: 4, events: {} },
    ...{ maxBytes, timeoutMs, connectTimeoutMs: timeoutMs, wrapClient: (client) => client },
    breaker: { failurePercent: 50, minimumCalls: 10, windowMs: 10_000, openMs: 5000 },
    retry: { attempts: 2, statuses: [502, 503, 504], baseDelayMs: 1, maxDelayMs: 1, budgetPercent: 20 },
  });
  onCleanup(close);
  const server = createOAuthServer({
    ...{ issuer, clientId: 'portico', timeoutMs, send },
    toError: (error, status) =>
      new GatewayError('verifier_unavailable', {
        reason: gatewayErrorIn(error)?.code ?? `${status}${oauthCodeIn(error)}`,
      }),
  });
  const metadata = (signal = new AbortController().signal) => server.metadata(callerWith(), signal);
  /** Why there is no metadata. */
  const failure = () =>
    metadata().then(
      () => expect.fail('it has metadata'),
      ({ code, reason }) => (code === 'verifier_unavailable' ? reason : code),
    );
  return { ...server, metadata, failure };
}

/** A server that has one document, in which `URL` is its address, and nothing elsewhere. */
async function document(place: string, content: object): Promise<HttpUpstream> {
  const server: HttpUpstream = await startHttpUpstream((request, response) => {
    const found = JSON.parse(JSON.stringify(content).replaceAll('URL', server.url));
    json(request.url === place ? found : {}, request.url === place ? 200 : 404)(request, response);
  });
  return server;
}

describe('the metadata of an authorization server', () => {
  for (const [place, path] of [
    [`${OAUTH}/realms/acme`, '/realms/acme'],
    [`/realms/acme${OIDC}`, '/realms/acme'],
    [OAUTH, ''],
    [OIDC, '/'],
  ] as const) {
    it(`is found at ${place} for an issuer with the path "${path}"`, async () => {
      const server = await document(place, { issuer: `URL${path}`, jwks_uri: 'URL/keys' });
      expect((await serverAt(server.url + path).metadata()).jwks_uri).to.equal(`${server.url}/keys`);
    });
  }

  for (const [what, status, requests, reason] of [
    ['is not looked for elsewhere while the server fails', 500, 3, 'upstream_failed'],
    ['is not looked for elsewhere where the server redirects', 302, 1, 'upstream_failed'],
    ['is nowhere', 404, 2, '404 (OAUTH_RESPONSE_IS_NOT_CONFORM)'],
  ] as const) {
    it(what, async () => {
      const server = await startHttpUpstream(json({}, status, { location: '/elsewhere' }));
      expect(await serverAt(server.url).failure()).to.equal(reason);
      expect(server.requests.length).to.be.at.most(requests);
    });
  }
});
