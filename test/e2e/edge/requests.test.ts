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
    const search = { method: 'POST', path: '/search', query: {} } as const;
    const found = (...ids: readonly string[]) => ids.map((id) => ({ ...TOOL, id }));

    /** Mocks one page: what is posted there, as it is on the wire, and what comes back. */
    function posts(body: nock.RequestBodyMatcher, page: nock.Body, headers: nock.ReplyHeaders = {}): void {
      nock(PLATFORM, { reqheaders: { 'content-type': 'application/json' }, badheaders: ['if-none-match'] })
        .post('/search', body)
        .reply(200, page, headers);
    }

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

    it('sends a numeric page token as a number', async () => {
      posts({ after: null, n: 50 }, { tools: found('a'), next: 7 });
      posts({ after: 7, n: 50 }, { tools: found('b') });
      const pagination = { kind: 'token', size: 50, sizeParam: '/n', tokenParam: '/after', next: 'next' } as const;
      const response = await readTools({ ...search, body: { after: null, n: 1 }, pagination });
      expect(await response.json()).to.have.length(2);
    });

    it('follows links with GET', async () => {
      posts({ limit: 2 }, { tools: found('a', 'b') }, { link: '</search/7?page=2>; rel="next"' });
      nock(PLATFORM, { badheaders: ['content-type'] })
        .get('/search/7?page=2', '')
        .reply(200, { tools: found('c') });
      const response = await readTools({
        ...search,
        body: { limit: 0 },
        pagination: { kind: 'link', size: 2, sizeParam: '/limit' },
      });
      expect(await response.json()).to.deep.equal(found('a', 'b', 'c'));
    });

    it('is refreshed without a condition', async () => {
      let clock = 1_800_000_000_000;
      const tools: ToolsSettings = { ...search, body: { q: 'all' }, pagination: { kind: 'none' } };
      const { read } = await startGateway(settingsFor(PLATFORM, { resources: { tools } }), { now: () => clock });
      for (const id of ['a', 'b']) {
        posts({ q: 'all' }, { tools: found(id) }, { etag: '"1"' });
        expect(await (await read('tools')).json()).to.deep.equal(found(id));
        clock += 10 * 60_000;
      }
    });
  });
});
