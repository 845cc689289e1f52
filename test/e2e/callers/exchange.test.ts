import { expect } from 'chai';
import fc from 'fast-check';
import { decodeJwt } from 'jose';
import { codeOf, echo, gatewayAt, givenFor, PLATFORM } from '../../capabilities/token-exchange/exchanging.ts';
import {
  type AuthorizationServer,
  startAuthorizationServer,
} from '../../support/authorization/authorization-server.ts';
import { as } from '../../support/authorization/caller.ts';
import { type HttpUpstream, json, startHttpUpstream } from '../../support/platform/http-upstream.ts';
import { SEEDED } from '../../support/seed.ts';

const HERE = 'https://portico.example/mcp';

describe('a platform with credential kind exchange, at a real authorization server', () => {
  let server: AuthorizationServer;
  let platform: HttpUpstream;

  before(async () => {
    server = await startAuthorizationServer();
    platform = await startHttpUpstream(echo);
  });
  beforeEach(async () => {
    await server.accept();
    server.respond(undefined);
    platform.respond(echo);
  });
  const issue = (subject = 'ada') => server.issue({ resource: HERE, subject });
  const exchanges = () => server.requests.filter(({ method }) => method === 'POST').length;

  it("receives a token issued for it and the caller, and never the caller's own", async () => {
    const { read } = await gatewayAt(platform, server.issuer, { exchange: { scopes: ['read'] } });
    const [ada, bea] = [await issue('ada'), await issue('bea')];
    const given = await Promise.all([ada, bea].map(async (token) => givenFor(await read('tools', as(token)))));
    for (const token of given) expect([ada, bea]).not.to.include(token);
    expect(given.map((token) => decodeJwt(token)).map(({ sub, aud, scope }) => [sub, aud, scope])).to.deep.equal([
      ['ada', PLATFORM, 'read'],
      ['bea', PLATFORM, 'read'],
    ]);
  });

  it('is read as soon as the authorization server is up, and with kept tokens while it is down again', async () => {
    await server.refuse();
    const { read, gateway } = await gatewayAt(platform, server.issuer);
    const token = await issue();
    const refused = await read('tools', as(token));
    const problem = (await refused.json()) as { detail: string };
    expect(refused.status).to.equal(502);
    expect(problem).to.include({ code: 'upstream_failed', upstream: 'tools' });
    expect(problem.detail).to.match(/^Portico obtained no token/);
    await server.accept();
    await givenFor(await read('tools', as(token)));
    await server.refuse();
    // Who has a token goes on.
    await givenFor(await read('tools', { headers: { ...as(token).headers, 'cache-control': 'no-cache' } }));
    expect(await codeOf(await read('tools', as(await issue('bea'))))).to.equal('502 upstream_failed');
    expect(gateway.breakers['tools']).to.equal('closed');
  });

  for (const [which, isKept] of [
    ['a fresh token', false],
    ['a kept token and a fresh one', true],
  ] as const) {
    it(`answers 502 when the platform rejects ${which}, which is neither retried nor kept`, async () => {
      const { read } = await gatewayAt(platform, server.issuer);
      const token = await issue();
      if (isKept) await givenFor(await read('projects', as(token)));
      platform.respond(json({}, 401));
      for (const requests of isKept ? [2, 1] : [1, 1]) {
        const [before, asked] = [exchanges(), platform.requests.length];
        const refused = await read('projects', as(token));
        expect(refused.headers.get('www-authenticate')).to.equal(null);
        expect(await codeOf(refused)).to.equal('502 upstream_credential_rejected');
        expect([exchanges() - before, platform.requests.length - asked]).to.deep.equal([1, requests]);
      }
    });
  }

  it(`never receives the token of another caller under concurrent reads ${SEEDED}`, async () => {
    const callers = await Promise.all(
      ['a', 'b', 'c', 'd', 'e'].map(async (name) => [name, await issue(name)] as const),
    );
    const wave = fc.array(fc.tuple(fc.constantFrom(...callers), fc.constantFrom('projects', 'workflows', 'tools')), {
      minLength: 1,
      maxLength: 12,
    });
    await fc.assert(
      fc.asyncProperty(fc.array(wave, { minLength: 1, maxLength: 3 }), fc.boolean(), async (waves, roomy) => {
        const { read, gateway } = await gatewayAt(platform, server.issuer, {
          // Room for all of them, or for one.
          exchange: { maxKeptBytes: roomy ? 1_000_000 : 2048 },
          upstream: { connections: 2 },
        });
        for (const together of waves) {
          const subjects = together.map(async ([[name, token], list]) => {
            expect(decodeJwt(await givenFor(await read(list, as(token)))).sub).to.equal(name);
          });
          await Promise.all(subjects);
        }
        await gateway.close();
      }),
      { numRuns: 10 },
    );
  });
});
