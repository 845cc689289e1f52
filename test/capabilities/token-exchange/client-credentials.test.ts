import type { RequestListener } from 'node:http';
import { text } from 'node:stream/consumers';
import { expect } from 'chai';
import { settingsFor, startGateway } from '../../support/gateway.ts';
import { json, lists, startHttpUpstream, tokenOf } from '../../support/platform/http-upstream.ts';

const CLIENT = { kind: 'client_secret_post', id: 'portico', secret: 'hush' } as const;

/** An authorization server with metadata, and a platform that accepts its last token. */
async function startServers(reply: (count: number) => RequestListener) {
  const requests: Record<string, string>[] = [];
  const server = await startHttpUpstream(async (request, response) => {
    if (request.url?.startsWith('/.well-known/')) {
      return json({ issuer: server.url, token_endpoint: `${server.url}/token` })(request, response);
    }
    requests.push(Object.fromEntries(new URLSearchParams(await text(request))));
    return reply(requests.length)(request, response);
  });
  const list = lists({ tools: [{ id: 'a', name: 'A' }] });
  const platform = await startHttpUpstream((request, response) =>
    (tokenOf(request) === `token-${requests.length}` ? list : json({}, 401))(request, response),
  );
  return { server, platform, requests };
}

const token: (count: number) => RequestListener = (count) =>
  json({ access_token: `token-${count}`, token_type: 'Bearer', expires_in: 3600 });

async function start(url: string, credential: object, now = Date.now) {
  const settings = { kind: 'client-credentials', client: CLIENT, ...credential } as const;
  const { read } = await startGateway(
    {
      ...settingsFor(url, { upstream: { credential: settings } }),
      allowUnverifiedCallers: true,
      resources: { tools: { cache: { ttlMs: 0 } } },
    },
    { now },
  );
  return (caller: string) => read('tools', { headers: { authorization: `Bearer ${caller}` } });
}

describe('a token by client credentials', () => {
  it('is requested once for all callers, with audience, resource and scopes, by the metadata of the issuer', async () => {
    const { server, platform, requests } = await startServers(token);
    const read = await start(platform.url, {
      issuer: server.url,
      audience: 'wiz-api',
      resource: 'https://platform.example/api',
      scopes: ['read:projects', 'read:tools'],
    });
    const responses = await Promise.all(Array.from({ length: 20 }, (_, index) => read(`caller-${index}`)));
    expect(responses.map(({ status }) => status)).to.deep.equal(responses.map(() => 200));
    expect(requests).to.deep.equal([
      {
        ...{ grant_type: 'client_credentials', client_id: 'portico', client_secret: 'hush', audience: 'wiz-api' },
        ...{ resource: 'https://platform.example/api', scope: 'read:projects read:tools' },
      },
    ]);
    expect(platform.requests.map((request) => tokenOf(request)).join()).not.to.contain('caller');
  });

  it("that is refused is the operator's error for every caller, never a 401", async () => {
    for (const [error, status] of [
      ['invalid_client', 401],
      ['invalid_grant', 400],
      ['access_denied', 400],
      ['invalid_scope', 400],
    ] as const) {
      const { server, platform, requests } = await startServers(() => json({ error }, status));
      const read = await start(platform.url, { tokenUrl: `${server.url}/token` });
      for (const caller of ['a', 'b']) {
        const response = await read(caller);
        expect(response.headers.get('www-authenticate')).to.equal(null);
        expect(await response.json()).to.include({
          ...{ status: 502, code: 'upstream_credential_rejected', upstream: 'tools' },
        });
      }
      expect(requests).to.have.length(1);
      expect(platform.requests).to.have.length(0);
    }
  });
});
