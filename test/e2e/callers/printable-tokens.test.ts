import { expect } from 'chai';
import fc from 'fast-check';
import { visibleAscii } from '../../support/any-text.ts';
import { atDepth } from '../../support/depth.ts';
import { type RunningGateway, startGateway } from '../../support/gateway.ts';
import { type HttpUpstream, json, startHttpUpstream } from '../../support/platform/http-upstream.ts';
import { SEED, SEEDED } from '../../support/seed.ts';

const RUNS = atDepth(12, 150);

describe('a token of any visible ASCII, over sockets', () => {
  let platform: HttpUpstream;
  let endpoint: HttpUpstream;
  let running: RunningGateway;
  let posted = '';

  before(async () => {
    platform = await startHttpUpstream(json({ projects: [], workflows: [], tools: [] }));
    endpoint = await startHttpUpstream(async (request, response) => {
      let body = '';
      for await (const chunk of request) body += chunk;
      posted = new URLSearchParams(body).get('subject_token') ?? '';
      json({ access_token: `of:${posted}`, token_type: 'Bearer', expires_in: 3600 })(request, response);
    });
  });
  /** Starts a gateway whose three upstreams have these credentials. */
  async function start(...credentials: readonly object[]) {
    const [projects, workflows, tools] = credentials.map((credential) => ({ baseUrl: platform.url, credential }));
    const upstreams = { projects, workflows, tools };
    running = await startGateway({ upstreams } as Parameters<typeof startGateway>[0]);
  }
  /** What the platform was given by a read with these headers: those that may hold a credential. */
  async function given(name: string, headers: Record<string, string>) {
    const { status } = await running.read(name, { headers });
    const sent = platform.requests.at(-1)?.headers;
    return { status, authorization: sent?.authorization, key: sent?.['x-key'] };
  }
  let checked = 0;
  // None comes twice: what is kept for a caller asks nobody.
  const whateverIt = (check: (token: string) => Promise<void>) =>
    fc.assert(
      fc.asyncProperty(visibleAscii, (token) => {
        checked += 1;
        return check(`${token}${checked}`);
      }),
      { seed: SEED, numRuns: RUNS },
    );

  it(`arrives at the platform byte for byte, in each kind of credential ${SEEDED}`, async () => {
    const header = { kind: 'header', name: 'X-Key' };
    await start({ kind: 'passthrough' }, header, { ...header, format: 'Key {token}', from: 'X-Acme-Token' });
    await whateverIt(async (token) => {
      const authorization = `Bearer ${token}`;
      expect((await given('projects', { authorization })).authorization).to.equal(authorization);
      expect((await given('workflows', { authorization })).key).to.equal(token);
      expect((await given('tools', { 'x-acme-token': token })).key).to.equal(`Key ${token}`);
    });
  });

  it(`is exchanged byte for byte, and so is the token received for it ${SEEDED}`, async () => {
    const client = { kind: 'client_secret_basic', id: 'portico', secret: 'hush' };
    const exchange = { kind: 'exchange', tokenUrl: endpoint.url, resource: 'https://acme.example', client };
    await start(exchange, { kind: 'passthrough' }, { kind: 'passthrough' });
    await whateverIt(async (token) => {
      const { authorization } = await given('projects', { authorization: `Bearer ${token}` });
      expect([posted, authorization]).to.deep.equal([token, `Bearer of:${token}`]);
    });
  });

  it('cannot add a parameter to a configured header format', async () => {
    const header = { kind: 'header', name: 'X-Key' };
    await start(
      { ...header, format: 'Key key="{token}", tenant=acme' },
      { ...header, format: 'Key tenant=acme;key={token}' },
      { ...header, format: '{token}@acme' },
    );
    const asked = platform.requests.length;
    for (const [name, refused] of [
      ['projects', 'a"b'],
      ['projects', 'a\\b'],
      ['workflows', 'a;tenant=b'],
      ['tools', 'a@b'],
    ] as const) {
      const response = await running.read(name, { headers: { authorization: `Bearer ${refused}` } });
      expect(response.status).to.equal(401);
      const { code, detail, upstream } = (await response.json()) as Record<string, string>;
      expect({ code, upstream }).to.deep.equal({ code: 'credential_malformed', upstream: name });
      expect(detail).to.contain('cannot carry').and.not.contain(refused);
    }
    expect(platform.requests.length).to.equal(asked);
    expect((await given('workflows', { authorization: 'Bearer a@"b' })).key).to.equal('Key tenant=acme;key=a@"b');
  });
});
