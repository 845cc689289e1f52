import { expect } from 'chai';
import nock from 'nock';
import { parse } from 'yaml';
import type { SettingsInput } from '../../../src/gateway.ts';
import { codeBlocks } from '../../support/docs.ts';
import { settingsFor, startGateway } from '../../support/gateway.ts';
import { useNock } from '../../support/nock.ts';

const PLATFORM = 'https://platform.example';
const TOOL = { id: 'nuclei', name: 'Nuclei', description: '', version: '', category: '' };

type ToolsSettings = NonNullable<NonNullable<SettingsInput['resources']>['tools']>;

describe('a request to the platform', () => {
  useNock();

  afterEach(() => {
    const pending = nock.pendingMocks();
    nock.cleanAll();
    expect(pending).to.deep.equal([]);
  });

  /** What a read of tools comes to with these settings of theirs. */
  async function readTools(tools: ToolsSettings, upstream: Partial<SettingsInput['upstreams'][string]> = {}) {
    const settings = settingsFor(PLATFORM, { upstream, resources: { tools } });
    const { read } = await startGateway(settings);
    return read('tools');
  }

  it('repeats a query parameter on each page', async () => {
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

  describe('by POST', () => {
    it('is sent as docs/configuration.md shows for GraphQL', async () => {
      const yaml = codeBlocks('docs/configuration.md', 'yaml').find((block) => block.includes('/graphql')) ?? '';
      const { resources } = parse(yaml);
      const flows = (ids: readonly string[], endCursor: string, hasNextPage: boolean) => ({
        data: { flows: { nodes: ids.map((id) => ({ id, name: id })), pageInfo: { endCursor, hasNextPage } } },
      });
      const { query } = resources.workflows.body;
      nock(PLATFORM)
        .post('/graphql', { query, variables: { first: 100, after: null } })
        .reply(200, flows(['a'], 'c1', true))
        .post('/graphql', { query, variables: { first: 100, after: 'c1' } })
        .reply(200, flows(['b'], 'c2', false));
      const { read } = await startGateway(settingsFor(PLATFORM, { resources }));
      const response = await read('workflows');
      const items = (await response.json()) as { id: string }[];
      expect(items.map(({ id }) => id)).to.deep.equal(['a', 'b']);
    });
  });
});
