import type { ServerResponse } from 'node:http';
import { expect } from 'chai';
import { decodeJwt } from 'jose';
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

  for (const [name, respond] of [
    ['hangs', () => {}],
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

  it('get the status that fits what introspection reports of them', async () => {
    const { server, statusOf } = await scene({ introspection: INTROSPECTION });
    const good = { active: true, aud: RESOURCE, iss: server.issuer, sub: 'ada', exp: 9e9, token_type: 'Bearer' };
    const reports = [
      [{}, 200],
      [{ aud: ['x', RESOURCE] }, 200],
      [{ exp: undefined }, 200],
      [{ active: false }, 401],
      [{ active: 'true' }, 503],
      [{ aud: undefined }, 401],
      [{ aud: 'https://other.example' }, 401],
      [{ iss: 'https://other.example' }, 401],
      [{ exp: 1 }, 401],
      [{ exp: 'never' }, 401],
      [{ nbf: 9e9 }, 401],
      [{ token_type: 'DPoP' }, 401],
      [{ cnf: { 'x5t#S256': 'x' } }, 401],
    ] as const;
    for (const [index, [said, status]] of reports.entries()) {
      server.respond(json({ ...good, ...said }), '/token/introspection');
      // Each token is another one: verdicts are remembered.
      expect(await statusOf(`opaque-${index}`), `number ${index}`).to.equal(status);
    }
  });
});

describe('a verified caller', () => {
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

  it('shares nothing when the tenant claim is no text', async () => {
    const { server, read, platform } = await scene({ partitionClaim: 'tenant' });
    platform.respond(lists({ tools: (request) => [toolItem(String(decodeJwt(tokenOf(request)).sub))] }));
    for (const [index, tenant] of [undefined, '', 5, ['acme'], { acme: true }, null].entries()) {
      const subjects = ['ada', 'grace'].map((name) => `${name}-${index}`);
      const issued = subjects.map((subject) => server.issue({ resource: RESOURCE, subject, claims: { tenant } }));
      const tokens = await Promise.all(issued);
      // The second time from what is stored.
      for (let times = 0; times < 2; times += 1) {
        const lists = tokens.map(async (token) => (await (await read('tools', as(token))).json()) as { id: string }[]);
        expect((await Promise.all(lists)).map(([item]) => item?.id)).to.deep.equal(subjects);
      }
      expect(platform.requests).to.have.length(2 * (index + 1));
    }
  });
});
