import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import fc from 'fast-check';
import { AUDIENCE, claimsOf, startIssuer } from '../../support/authorization/issuer.ts';
import { atDepth } from '../../support/depth.ts';
import { startRedis, startRedisProxy } from '../../support/fleet/redis.ts';
import { settingsFor, startGateway } from '../../support/gateway.ts';
import type { TestSettings } from '../../support/limits.ts';
import { json, startHttpUpstream } from '../../support/platform/http-upstream.ts';
import { exchange, get } from '../../support/raw-http.ts';
import { SEEDED } from '../../support/seed.ts';
import { needsCommands } from '../../support/tools.ts';

type Upstream = Partial<TestSettings['upstreams'][string]>;

/** A platform whose one item shows what it was sent. */
async function startEcho() {
  return await startHttpUpstream(({ url, headers }, response) => {
    const sent = { url, tenant: headers['x-tenant-id'], team: headers['x-team'], token: headers.authorization };
    const item = { id: 'a', name: JSON.stringify(sent) };
    json({ items: [item] })({} as never, response);
  });
}

const READ = '/mcp/v1/resources/read?uri=platform://tools';
const TOOLS = { items: 'items', pagination: { kind: 'none' } } as const;

async function start(upstream: Upstream, tools: object = {}, rest: Partial<TestSettings> = {}) {
  const platform = await startEcho();
  const running = await startGateway({
    ...settingsFor(platform.url, { upstream: { retry: { attempts: 0 }, ...upstream } }),
    resources: { tools: { ...TOOLS, ...tools } } as never,
    ...rest,
  });
  return { ...running, platform };
}

async function sentFor(response: Response) {
  const [item] = (await response.json()) as { name: string }[];
  expect(response.status).to.equal(200);
  return JSON.parse(item?.name ?? '') as { url: string; tenant?: string; team?: string; token: string };
}

describe('headers that are forwarded', () => {
  it('reach the platform, select a list of their own, and are named in Vary', async () => {
    const { read, platform } = await start({ forwardHeaders: ['X-Tenant-ID', 'X-Team'] });
    for (const tenant of ['one', 'two', 'one', undefined, 'one,two', 'one']) {
      const response = await read('tools', { headers: tenant === undefined ? {} : { 'X-Tenant-ID': tenant } });
      expect(response.headers.get('vary')).to.contain('X-Tenant-ID').and.contain('X-Team');
      const sent = await sentFor(response);
      expect(sent.tenant).to.equal(tenant);
      expect(sent).to.not.have.property('team');
    }
    // Each of the four has one list, which is stored.
    expect(platform.requests).to.have.length(4);
  });

  it('are refused where they are repeated, too long, or not a value', async () => {
    const { read, url, platform } = await start({ forwardHeaders: ['X-Tenant-ID'] });
    for (const tenant of ['x'.repeat(257), '..', '.', '', 'é']) {
      const response = await read('tools', { headers: { 'X-Tenant-ID': tenant } });
      expect(response.status, tenant).to.equal(400);
      expect(await response.json()).to.include({ code: 'invalid_request' });
    }
    const twice = get(READ, { 'X-Tenant-ID': 'one' }).replace('\r\n\r\n', '\r\nX-Tenant-ID: two\r\n\r\n');
    expect((await exchange(url, twice)).status).to.equal(400);
    expect(platform.requests).to.have.length(0);
  });
});

describe('values of callers in addresses and headers', () => {
  it('reach a platform where its settings name them, and nowhere that its replies name', async () => {
    const marker = `__caller-value-${Buffer.from('header.X-Other').toString('hex')}__`;
    const platform = await startHttpUpstream(({ url = '' }, response) => {
      const next = url.includes('?page=') ? '' : `?page=${marker}`;
      json({ items: [{ id: url, name: 'n' }], next })({} as never, response);
    });
    const each = { baseUrl: platform.url };
    const { read } = await startGateway({
      ...settingsFor(platform.url),
      upstreams: { tools: each, workflows: { ...each, forwardHeaders: ['X-Other'] } },
      resources: {
        tools: { path: '/{header.X-Tenant-ID}', items: 'items', pagination: { kind: 'link', next: 'next' } },
      } as never,
    });
    const response = await read('tools', { headers: { 'X-Tenant-ID': 'one', 'X-Other': 'secret' } });
    expect(response.status).to.equal(200);
    expect(platform.requests.map(({ url }) => url)).to.deep.equal([
      '/one?installed=true&per_page=100',
      `/one?page=${marker}`,
    ]);
  });

  it('are percent-encoded in paths and queries, and required', async () => {
    const { read } = await start(
      { headers: { 'X-Team': 'team-{header.X-Team}' } },
      {
        path: '/t/{header.X-Tenant-ID}/k-{header.x-team}',
        query: { of: ['{header.X-Team}!', 'all'] },
      },
    );
    const headers = { 'X-Tenant-ID': 'a/../b?c#%2e', 'X-Team': 'red & blue' };
    expect(await sentFor(await read('tools', { headers }))).to.include({
      url: '/t/a%2F..%2Fb%3Fc%23%252e/k-red%20%26%20blue?of=red%20%26%20blue%21&of=all',
      team: 'team-red & blue',
    });
    for (const [missing, sent] of [
      ['X-Tenant-ID', { 'X-Team': 'red' }],
      ['X-Team', { 'X-Tenant-ID': 'a' }],
    ] as const) {
      const response = await read('tools', { headers: sent });
      expect(response.status).to.equal(400);
      expect(await response.json()).to.include({
        ...{ code: 'invalid_request', detail: `This list needs the header ${missing}.` },
      });
    }
  });

  it('of claims are those of the verified token, and required', async () => {
    const issuer = await startIssuer();
    const { read } = await start(
      { headers: { 'X-Team': '{claim.team}' } },
      { path: '/t/{claim.https://acme.example/tenant}', query: {} },
      { verification: { issuer: issuer.url, audience: AUDIENCE } },
    );
    const readAs = async (claims: object) => {
      const token = await issuer.token({ ...claimsOf(issuer.url), ...claims });
      return await read('tools', { headers: { authorization: `Bearer ${token}` } });
    };
    const sent = await sentFor(await readAs({ 'https://acme.example/tenant': 'ä/b', team: 7 }));
    expect(sent).to.include({ url: '/t/%C3%A4%2Fb', team: '7' });
    const tenant = 'https://acme.example/tenant';
    for (const [claims, detail] of [
      [{ team: 'red' }, `has no claim ${tenant}`],
      [{ [tenant]: ['a'], team: 'red' }, `has no claim ${tenant}`],
      [{ [tenant]: '..', team: 'red' }, `The claim ${tenant}`],
      [{ [tenant]: 'a', team: 'ä' }, 'The claim team'],
    ] as const) {
      const response = await readAs(claims);
      expect(response.status).to.equal(403);
      expect(((await response.json()) as { detail: string }).detail).to.contain(detail);
    }
  });

  for (const replicas of [1, 2]) {
    it(`never share a list of ${replicas} replicas, whatever tokens, claims and headers are mixed ${SEEDED}`, async function () {
      if (replicas > 1) needsCommands(this, ['redis-server']);
      const issuer = await startIssuer();
      const platform = await startEcho();
      const credential = { kind: 'service', secret: 'hush' } as const;
      const upstream = { forwardHeaders: ['X-Tenant-ID'], credential };
      const settings: TestSettings = {
        ...settingsFor(platform.url, { upstream }),
        resources: { tools: { ...TOOLS, path: '/t/{claim.tenant}', query: { team: '{header.X-Team}' } } },
        // All callers of one organization share lists, as far as nothing else distinguishes them.
        verification: { issuer: issuer.url, audience: AUDIENCE, partitionClaim: 'org' },
        ...(replicas > 1 && { shared: await startShared() }),
      };
      const reads = await Promise.all(
        Array.from({ length: replicas }, async () => (await startGateway(settings)).read),
      );
      const tokens = new Map<string, string>();
      const value = fc.constantFrom('a', 'b', 'a","b', 'null', 'a/b', '["x"]');
      const caller = fc.record({
        ...{ sub: fc.constantFrom('ada', 'bob'), org: fc.constantFrom('a', 'b'), claim: value, team: value },
        ...{ tenant: fc.option(value), replica: fc.nat(replicas - 1) },
      });
      await fc.assert(
        fc.asyncProperty(fc.array(caller, { minLength: 2, maxLength: 12 }), async (callers) => {
          await Promise.all(
            callers.map(async ({ sub, org, claim, team, tenant, replica }) => {
              const name = JSON.stringify([sub, org, claim]);
              // A caller is served what others have loaded only after a load of its own.
              const token = tokens.get(name) ?? (await issuer.token({ sub, org, tenant: claim }));
              tokens.set(name, token);
              const headers = {
                ...{ authorization: `Bearer ${token}`, 'X-Team': team },
                ...(tenant !== null && { 'X-Tenant-ID': tenant }),
              };
              const response = await reads[replica]?.('tools', { headers });
              const sent = await sentFor(response as Response);
              const url = new URL(sent.url, 'http://platform');
              expect([url.pathname, url.searchParams.get('team'), sent.tenant ?? null]).to.deep.equal([
                ...[`/t/${encodeURIComponent(claim)}`, team, tenant],
              ]);
            }),
          );
        }),
        { numRuns: atDepth(12, 100) },
      );
    });
  }
});

async function startShared() {
  const redis = await startRedis();
  const { redisUrl } = await startRedisProxy(redis);
  const keySecretFile = join(redis.folder, 'secret');
  writeFileSync(keySecretFile, 'k'.repeat(32));
  return { url: redisUrl, keySecretFile };
}
