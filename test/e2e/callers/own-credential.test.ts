import { expect } from 'chai';
import fc from 'fast-check';
import nock from 'nock';
import type { SettingsInput } from '../../../src/gateway.ts';
import { captureLog } from '../../core/log/captured-log.ts';
import { as } from '../../support/authorization/caller.ts';
import { startGateway, TOKEN } from '../../support/gateway.ts';
import { useNock } from '../../support/nock.ts';
import { json, listOf, startHttpUpstream } from '../../support/platform/http-upstream.ts';
import { SEEDED } from '../../support/seed.ts';

const SECRET = 'canary-c4n4ry-of-the-deployment';
const USERS = 'https://users.example';
const ADMIN = 'https://admin.example';

type Credential = NonNullable<SettingsInput['upstreams'][string]['credential']>;

/** Projects by the caller's own token, workflows and tools by a credential of Portico's own. */
function mixed(credential: Credential, baseUrl = ADMIN): SettingsInput {
  return {
    allowUnverifiedCallers: true,
    upstreams: { users: { baseUrl: USERS }, admin: { baseUrl, credential, retry: { attempts: 0 } } },
    resources: { projects: { upstream: 'users' }, workflows: { upstream: 'admin' }, tools: { upstream: 'admin' } },
  };
}

function page(name: string, id: string) {
  return { [name]: [{ id, name: id, version: '1.0.0' }], nextPageToken: '' };
}

async function idsIn(response: Response): Promise<string[]> {
  expect(response.status).to.equal(200);
  return ((await response.json()) as { id: string }[]).map(({ id }) => id);
}

const SECRET_KEY: Credential = { kind: 'service', secret: SECRET, name: 'X-Api-Key' };
const admin = () => nock(ADMIN, { reqheaders: { 'x-api-key': SECRET }, badheaders: ['authorization'] });

describe('a platform with credential kind service or none', () => {
  useNock();
  afterEach(() => {
    expect(nock.pendingMocks()).to.deep.equal([]);
    nock.cleanAll();
  });

  const list = (scope: nock.Scope, name: string, status: number, body: object = page(name, name)) =>
    scope.get(`/v1/${name}`).query(true).reply(status, body);

  it("receives the deployment's secret and never the caller's token, next to a platform with passthrough", async () => {
    const users = nock(USERS, { reqheaders: { authorization: `Bearer ${TOKEN}` }, badheaders: ['x-api-key'] });
    list(users, 'projects', 200);
    list(admin(), 'workflows', 200);
    list(admin(), 'tools', 200);
    const { read } = await startGateway(mixed(SECRET_KEY), captureLog('silent'));
    for (const name of ['projects', 'workflows', 'tools']) expect(await idsIn(await read(name))).to.deep.equal([name]);
  });

  it('answers 502 when it refuses that secret, without a challenge to the caller, and keeps the lists of others', async () => {
    const { read } = await startGateway(mixed(SECRET_KEY), captureLog('silent'));
    list(admin(), 'tools', 200);
    expect(await idsIn(await read('tools'))).to.deep.equal(['tools']);
    list(admin(), 'workflows', 401, { error: SECRET });
    const refused = await read('workflows');
    expect(refused.status).to.equal(502);
    expect(refused.headers.get('www-authenticate')).to.equal(null);
    const problem = await refused.text();
    expect(JSON.parse(problem)).to.include({ code: 'upstream_credential_rejected', upstream: 'admin' });
    expect(problem).not.to.contain(SECRET);
    // What was held is held still, and the caller is not refused the next time.
    expect((await read('tools')).headers.get('cache-status')).to.match(/^portico; hit/);
    list(admin(), 'workflows', 200);
    expect(await idsIn(await read('workflows'))).to.deep.equal(['workflows']);
    // A 401 to the caller's own token evicts nothing here.
    list(nock(USERS), 'projects', 401, {});
    expect((await read('projects')).status).to.equal(401);
    expect((await read('tools')).headers.get('cache-status')).to.match(/^portico; hit/);
  });
});

describe('unverified callers', () => {
  /** Several reads at once. */
  const wave = fc.array(fc.tuple(fc.constantFrom('a', 'b', 'c'), fc.constantFrom('projects', 'workflows', 'tools')), {
    minLength: 1,
    maxLength: 6,
  });
  const waves = fc.array(wave, { minLength: 1, maxLength: 4 });

  for (const credential of [{ kind: 'service', secret: SECRET }, { kind: 'none' }, { kind: 'passthrough' }] as const) {
    it(`share no snapshot and no load with credential kind ${credential.kind} ${SEEDED}`, async () => {
      let serial = 0;
      // Each response is another one, so that whoever is given it can be known by it.
      const platform = await startHttpUpstream((request, response) => {
        serial += 1;
        const name = listOf(request);
        const answer = json(page(name, `item-${serial}`));
        setTimeout(() => answer(request, response), 2);
      });
      await fc.assert(
        fc.asyncProperty(waves, async (reads) => {
          const each = { baseUrl: platform.url, credential };
          const upstreams = { projects: each, workflows: each, tools: each };
          const { read, gateway } = await startGateway(
            { allowUnverifiedCallers: true, upstreams },
            captureLog('silent'),
          );
          const owners = new Map<string, string>();
          for (const together of reads) {
            const asked = together.map(async ([caller, name]) => ({
              caller,
              ids: await idsIn(await read(name, as(`token-${caller}`))),
            }));
            for (const { caller, ids } of await Promise.all(asked)) {
              for (const id of ids) {
                expect(owners.get(id) ?? caller).to.equal(caller);
                owners.set(id, caller);
              }
            }
          }
          await gateway.close();
        }),
        { numRuns: 12 },
      );
    });
  }
});
