import { expect } from 'chai';
import nock from 'nock';
import type { SettingsInput } from '../../src/gateway.ts';
import { settingsFor, startGateway } from '../support/gateway.ts';
import { useNock } from '../support/nock.ts';

const PLATFORM = 'https://platform.example';
const TOOL = { id: 'nuclei', name: 'Nuclei', description: '', version: '', category: '' };

type ToolsSettings = NonNullable<NonNullable<SettingsInput['resources']>['tools']>;

describe('a platform is asked as settings say', () => {
  useNock();

  afterEach(() => {
    const pending = nock.pendingMocks();
    nock.cleanAll();
    expect(pending).to.deep.equal([]);
  });

  /** What a read of tools comes to with these settings of theirs. */
  async function readTools(tools: ToolsSettings, upstream: Partial<SettingsInput['upstreams'][string]> = {}) {
    const settings = settingsFor(PLATFORM, { upstream, resources: { tools } });
    const { gateway, read } = await startGateway(settings);
    const response = await read('tools');
    await gateway.close();
    return response;
  }

  it('with values in its path, each within its segment', async () => {
    nock(PLATFORM)
      .get('/v1/tenants/a%2Fb%20%3F/tools')
      .query({ installed: 'true', pageSize: '100' })
      .reply(200, { tools: [TOOL] });
    const response = await readTools({ path: '/v1/tenants/{tenant}/tools', pathParams: { tenant: 'a/b ?' } });
    expect(await response.json()).to.deep.equal([TOOL]);
  });

  it('with a query parameter several times, on each page', async () => {
    const query = (rest: object) => ({ state: ['installed', 'broken'], pageSize: '100', ...rest });
    nock(PLATFORM)
      .get('/v1/tools')
      .query(query({}))
      .reply(200, { tools: [TOOL], nextPageToken: 'more' })
      .get('/v1/tools')
      .query(query({ pageToken: 'more' }))
      .reply(200, { tools: [{ ...TOOL, id: 'zap' }] });
    const response = await readTools({ query: { state: ['installed', 'broken'] } });
    expect(await response.json()).to.have.length(2);
  });

  it('with headers of the resource over those of its upstream, and the credential beside them', async () => {
    nock(PLATFORM, {
      reqheaders: {
        accept: 'application/vnd.tools+json',
        'x-tenant': 'acme',
        'x-of-all': 'yes',
        authorization: /^Bearer /,
        'user-agent': 'portico',
      },
    })
      .get('/v1/tools')
      .query(true)
      .reply(200, { tools: [TOOL] });
    const headers = { Accept: 'application/vnd.tools+json', 'X-Tenant': 'acme' };
    const response = await readTools({ headers }, { headers: { ACCEPT: 'text/plain', 'X-Of-All': 'yes' } });
    expect(response.status).to.equal(200);
  });
});
