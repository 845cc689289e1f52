import { writeFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import { expect } from 'chai';
import type { GatewayOptions } from '../../../src/gateway.ts';
import {
  type AuthorizationServer,
  CLIENT,
  startAuthorizationServer,
} from '../../support/authorization/authorization-server.ts';
import { as } from '../../support/authorization/caller.ts';
import { eventually } from '../../support/eventually.ts';
import { settingsFor, startGateway } from '../../support/gateway.ts';
import type { TestSettings } from '../../support/limits.ts';
import { json, listOf, lists, startHttpUpstream, tokenOf } from '../../support/platform/http-upstream.ts';
import { toolItem } from '../../support/platform/loads.ts';
import { inFolder } from '../../support/process/process.ts';
import { rpc } from '../../support/rpc.ts';

type VerificationInput = NonNullable<TestSettings['verification']>;

const PUBLIC_URL = 'https://portico.example';
const RESOURCE = `${PUBLIC_URL}/mcp`;
const INTROSPECTION = { clientId: CLIENT.id, secret: CLIENT.secret };
const ALL = { projects: [toolItem('p')], workflows: [toolItem('w')], tools: [toolItem('t')] };

async function scene(
  verification: Partial<VerificationInput> = {},
  rest: (server: AuthorizationServer) => Partial<TestSettings> = () => ({}),
  options: GatewayOptions = {},
) {
  const [server, platform] = await Promise.all([startAuthorizationServer(), startHttpUpstream(lists(ALL))]);
  const settings = settingsFor(platform.url, {
    publicUrl: PUBLIC_URL,
    upstream: { retry: { attempts: 0 } },
    verification: { issuer: server.issuer, ...verification },
    ...rest(server),
  });
  const running = await startGateway(settings, options);
  const statusOf = async (token: string, name = 'tools') => {
    const response = await running.read(name, as(token));
    await response.arrayBuffer();
    return response.status;
  };
  return { ...running, server, platform, statusOf };
}

describe('callers of a real authorization server', () => {
  it('are admitted by JWTs for the public URL of /mcp only', async () => {
    const { server, statusOf } = await scene({ type: 'at+jwt' });
    expect(await statusOf(await server.issue({ resource: RESOURCE }))).to.equal(200);
    for (const resource of [PUBLIC_URL, `${RESOURCE}/`, 'https://other.example/mcp']) {
      expect(await statusOf(await server.issue({ resource })), resource).to.equal(401);
    }
  });

  it('are admitted by tokens of new keys, and no longer by those of removed keys', async () => {
    const { server, statusOf } = await scene({ keys: { cooldownMs: 1 }, rememberMs: 0 });
    const before = await server.issue({ resource: RESOURCE });
    expect(await statusOf(before)).to.equal(200);
    await server.rotateKeys();
    expect(await statusOf(await server.issue({ resource: RESOURCE }))).to.equal(200);
    expect(await statusOf(before)).to.equal(401);
  });

  for (const [name, respond] of [
    ['hangs', () => {}],
    ['fails', json({}, 500)],
    ['sends garbage', json('garbage')],
    ['sends no keys', json({ keys: [] })],
    ['sends keys without end', json({ keys: [{ kty: 'EC' }], more: 'A'.repeat(200_000) })],
    ['sends a redirect', json({}, 302, { location: 'https://other.example/jwks' })],
  ] as const) {
    it(`get 503, not 401, when the server ${name} before keys are known`, async () => {
      const { server, read, platform } = await scene({ timeoutMs: 200, keys: { cooldownMs: 1 } });
      const token = await server.issue({ resource: RESOURCE });
      server.respond(respond, '/jwks');
      const response = await read('tools', as(token));
      expect(response.status).to.equal(503);
      expect(response.headers.get('www-authenticate')).to.equal(null);
      expect(await response.json()).to.include({ code: 'verifier_unavailable', retryAfterSeconds: 1 });
      expect(platform.requests).to.deep.equal([]);
      server.respond(undefined, '/jwks');
      expect(await eventually(async () => (await read('tools', as(token))).status === 200)).to.equal(true);
    });
  }
});

describe('opaque tokens', () => {
  const issue = (server: AuthorizationServer, rest = {}) =>
    server.issue({ resource: RESOURCE, format: 'opaque', ...rest });
  const asked = ({ server }: { readonly server: AuthorizationServer }) =>
    server.requests.filter(({ url }) => url === '/token/introspection').length;

  it('are introspected once per rememberMs, with audience and scopes', async () => {
    const resources = { projects: { requiredScopes: ['admin'] } };
    const running = await scene({ introspection: INTROSPECTION }, () => ({ resources }));
    const { server, statusOf } = running;
    const token = await issue(server, { scope: 'read' });
    await Promise.all([statusOf(token), statusOf(token), statusOf(token)]);
    expect(await statusOf(token)).to.equal(200);
    expect(asked(running)).to.equal(1);
    expect(await statusOf(token, 'projects')).to.equal(403);
    expect(await statusOf(await issue(server), 'projects')).to.equal(200);
    expect(await statusOf(await issue(server, { resource: 'https://other.example' }))).to.equal(401);
    expect(await statusOf('made-up')).to.equal(401);
    // JWTs are verified by the keys all the same.
    const before = asked(running);
    expect(await statusOf(await server.issue({ resource: RESOURCE }))).to.equal(200);
    expect(asked(running)).to.equal(before);
  });

  it('are rejected at the first introspection after their revocation', async () => {
    const { server, statusOf } = await scene({ introspection: INTROSPECTION, rememberMs: 0 });
    const token = await issue(server);
    expect(await statusOf(token)).to.equal(200);
    const basic = Buffer.from(`${CLIENT.id}:${CLIENT.secret}`).toString('base64');
    await fetch(server.revocationEndpoint, {
      method: 'POST',
      headers: { authorization: `Basic ${basic}` },
      body: new URLSearchParams({ token }),
    });
    expect(await statusOf(token)).to.equal(401);
  });

  it('are rejected without introspection settings', async () => {
    const running = await scene();
    expect(await running.statusOf(await issue(running.server))).to.equal(401);
    expect(asked(running)).to.equal(0);
  });

  it("get 503 when the server rejects Portico's credential or is down", async () => {
    const running = await scene({ introspection: { ...INTROSPECTION, secret: 'another one' } });
    expect(await running.statusOf(await issue(running.server))).to.equal(503);
    await running.server.refuse();
    expect(await running.statusOf(await issue(running.server))).to.equal(503);
  });

  it('get 503 with Retry-After at once while introspection keeps failing', async () => {
    const running = await scene({ introspection: INTROSPECTION });
    const { server, read, statusOf } = running;
    server.respond(json({}, 500), '/token/introspection');
    for (let number = 0; number < 40; number += 1) expect(await statusOf(`made-up-${number}`)).to.equal(503);
    const spared = asked(running);
    expect(spared).to.be.within(5, 15);
    const response = await read('tools', as('made-up'));
    expect(response.status).to.equal(503);
    expect(Number(response.headers.get('retry-after'))).to.be.within(1, 5);
    expect(asked(running)).to.equal(spared);
    expect(await statusOf(await server.issue({ resource: RESOURCE }))).to.equal(200);
  });

  it('do not delay JWTs or key fetches, however many wait', async () => {
    const { server, statusOf } = await scene({ introspection: INTROSPECTION, maxVerifying: 40, timeoutMs: 20_000 });
    const held: ServerResponse[] = [];
    server.respond((_, response) => held.push(response), '/token/introspection');
    const waiting = Array.from({ length: 40 }, (_, number) => statusOf(`made-up-${number}`));
    await eventually(() => held.length === 16);
    expect(await statusOf(await server.issue({ resource: RESOURCE }))).to.equal(200);
    server.respond(json({ active: false }), '/token/introspection');
    for (const response of held) response.end('{"active":false}');
    expect(new Set(await Promise.all(waiting))).to.deep.equal(new Set([401]));
  });

  it('are introspected with the secret that the file holds now', async () => {
    await inFolder(async (folder) => {
      const file = join(folder, 'secret');
      writeFileSync(file, 'another one\n');
      let now = Date.now();
      const introspection = { clientId: CLIENT.id, file };
      const { server, statusOf } = await scene({ introspection }, undefined, { now: () => now });
      const token = await issue(server, { seconds: 3600 });
      expect(await statusOf(token)).to.equal(503);
      writeFileSync(file, `${CLIENT.secret}\n`);
      now += 60_000;
      expect(await eventually(async () => (await statusOf(token)) === 200)).to.equal(true);
    });
  });

  for (const [name, said, status] of [
    ['is good', {}, 200],
    ['is for several', { aud: ['x', RESOURCE] }, 200],
    ['has no end', { exp: undefined }, 200],
    ['is not active', { active: false }, 401],
    ['is active as a text', { active: 'true' }, 503],
    ['is for nobody', { aud: undefined }, 401],
    ['is for somebody else', { aud: 'https://other.example' }, 401],
    ['is of another issuer', { iss: 'https://other.example' }, 401],
    ['has ended', { exp: 1 }, 401],
    ['ends in a text', { exp: 'never' }, 401],
    ['is to begin', { nbf: 9e9 }, 401],
    ['is bound to a key', { token_type: 'DPoP' }, 401],
    ['is bound to a certificate', { cnf: { 'x5t#S256': 'x' } }, 401],
  ] as const) {
    it(`get ${status} when introspection reports that the token ${name}`, async () => {
      const { server, statusOf } = await scene({ introspection: INTROSPECTION });
      const good = { active: true, aud: RESOURCE, iss: server.issuer, sub: 'ada', exp: 9e9, token_type: 'Bearer' };
      server.respond(json({ ...good, ...said }), '/token/introspection');
      expect(await statusOf('opaque')).to.equal(status);
    });
  }
});

describe('a verified caller', () => {
  it('is limited by subject across its tokens', async () => {
    const { server, statusOf } = await scene({}, () => ({ limits: { perCaller: 2 } }));
    const of = (subject: string) => server.issue({ resource: RESOURCE, subject });
    const [one, two, three] = [await of('ada'), await of('ada'), await of('ada')];
    expect(new Set([one, two, three]).size).to.equal(3);
    expect([await statusOf(one), await statusOf(two), await statusOf(three)]).to.deep.equal([200, 200, 429]);
    expect(await statusOf(await of('grace'))).to.equal(200);
  });

  it('shares snapshots with its tenant after a successful load of its own', async () => {
    const running = await scene({ partitionClaim: 'tenant' });
    const { server, platform, read } = running;
    const of = (subject: string, tenant: unknown) => server.issue({ resource: RESOURCE, subject, claims: { tenant } });
    const acme = ['ada', 'grace', 'mallory'].map((subject) => of(subject, 'acme'));
    const [ada = '', grace = '', mallory, other = ''] = await Promise.all([...acme, of('other', 'globex')]);
    // The platform shows each its own name, and nothing to mallory.
    platform.respond((request, response) => {
      if (tokenOf(request) === mallory) return json({}, 403)(request, response);
      const id = [ada, grace, other].indexOf(tokenOf(request));
      json({ [listOf(request)]: [toolItem(String(id))], nextPageToken: '' })(request, response);
    });
    const got = async (token: string) => {
      const response = await read('tools', as(token));
      const [item] = response.status === 200 ? ((await response.json()) as { id: string }[]) : [];
      return [item?.id ?? response.status, /hit|fwd=\w+/.exec(response.headers.get('cache-status') ?? '')?.[0]];
    };
    expect(await got(ada)).to.deep.equal(['0', 'fwd=miss']);
    expect(await got(ada)).to.deep.equal(['0', 'hit']);
    // Nothing before a load of its own; then what was loaded last for the tenant, which ada is served, too.
    expect((await got(grace))[1]).to.not.equal('hit');
    expect(await got(grace)).to.deep.equal(['1', 'hit']);
    expect(await got(ada)).to.deep.equal(['1', 'hit']);
    for (let times = 0; times < 2; times += 1) expect((await got(`${mallory}`))[0]).to.equal(403);
    expect(await got(ada)).to.deep.equal(['1', 'hit']);
    expect(await got(other)).to.deep.equal(['2', 'fwd=miss']);
  });

  for (const tenant of [undefined, '', 5, ['acme'], { acme: true }, null]) {
    it(`shares nothing when the tenant claim is ${JSON.stringify(tenant)}`, async () => {
      const { server, read, platform } = await scene({ partitionClaim: 'tenant' });
      const [ada, grace] = await Promise.all(
        ['ada', 'grace'].map((subject) => server.issue({ resource: RESOURCE, subject, claims: { tenant } })),
      );
      platform.respond(lists({ tools: (request) => [toolItem(tokenOf(request) === ada ? 'of ada' : 'of grace')] }));
      const idOf = async (token = '') => ((await (await read('tools', as(token))).json()) as { id: string }[])[0]?.id;
      // The second time from what is stored.
      for (let times = 0; times < 2; times += 1) {
        expect([await idOf(ada), await idOf(grace)]).to.deep.equal(['of ada', 'of grace']);
      }
      expect(platform.requests).to.have.length(2);
    });
  }

  it('needs the same scopes over MCP, where only that read or tool call fails', async () => {
    const resources = { tools: { requiredScopes: ['admin'] } };
    const { server, post, platform } = await scene({}, () => ({ resources }));
    const token = await server.issue({ resource: RESOURCE, scope: 'read' });
    const call = async (method: string, params: object = {}) => {
      const response = await post(rpc(method, params), as(token).headers);
      return (await response.json()) as Record<string, Record<string, unknown>>;
    };
    const denied = await call('resources/read', { uri: 'platform://tools' });
    expect(denied['error']).to.include({ code: 403 });
    expect(denied['error']?.['data']).to.include({ code: 'access_denied' });
    const tool = await call('tools/call', { name: 'list_installed_tools', arguments: {} });
    expect(tool['result']).to.include({ isError: true });
    expect(JSON.stringify(tool)).to.contain('access_denied').and.contain('the scope admin');
    expect(platform.requests).to.deep.equal([]);
    expect(await call('resources/read', { uri: 'platform://workflows' })).to.have.property('result');
    // Lists leave it out.
    expect((await call('resources/list'))['result']?.['resources']).to.have.length(2);
    expect((await call('tools/list'))['result']?.['tools']).to.have.length(2);
  });

  it('follows changed settings and keeps verdicts when verification is unchanged', async () => {
    const { server, gateway, statusOf } = await scene();
    const token = await server.issue({ resource: RESOURCE, scope: 'read' });
    expect(await statusOf(token)).to.equal(200);
    const settings = (verification: VerificationInput | undefined, requiredScopes: string[] = []) =>
      settingsFor('http://127.0.0.1:1', {
        publicUrl: PUBLIC_URL,
        ...(verification && { verification }),
        resources: { workflows: { requiredScopes } },
      });
    const keysAsked = () => server.requests.filter(({ url }) => url === '/jwks').length;
    gateway.change(settings({ issuer: server.issuer }));
    // Let in without a new look; the platform is not there any more.
    expect(await statusOf(token)).to.equal(502);
    expect(keysAsked()).to.equal(1);
    gateway.change(settings({ issuer: server.issuer }, ['admin']));
    expect(await statusOf(token, 'workflows')).to.equal(403);
    gateway.change(settings({ issuer: server.issuer, audience: 'https://other.example' }));
    expect(await statusOf(token)).to.equal(401);
    gateway.change(settings(undefined));
    expect(await statusOf(token)).to.equal(502);
  });
});
