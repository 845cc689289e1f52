import { expect } from 'chai';
import nock from 'nock';
import { parse } from 'yaml';
import { codeBlocks } from '../../support/docs.ts';
import { settingsFor, startGateway } from '../../support/gateway.ts';
import { useNock } from '../../support/nock.ts';

const PLATFORM = 'https://platform.example';

describe('a request to the platform by POST', () => {
  useNock();

  it('is sent as docs/configuration.md shows for GraphQL', async () => {
    const yaml = codeBlocks('docs/configuration.md', 'yaml').find((block) => block.includes('/graphql')) ?? '';
    const { resources } = parse(yaml);
    const flows = (ids: readonly string[], endCursor: string, hasNextPage: boolean) => ({
      data: { flows: { nodes: ids.map((id) => ({ id, name: id })), pageInfo: { endCursor, hasNextPage } } },
    });
    const { query } = resources.workflows.body;
    nock(PLATFORM)
      .post('/graphql', { query, variables: { first: 100 } })
      .reply(200, flows(['a'], 'c1', true))
      .post('/graphql', { query, variables: { first: 100, after: 'c1' } })
      .reply(200, flows(['b'], 'c2', false));
    const { read } = await startGateway(settingsFor(PLATFORM, { resources }));
    const items = (await (await read('workflows')).json()) as { id: string }[];
    expect(items.map(({ id }) => id)).to.deep.equal(['a', 'b']);
    expect(nock.pendingMocks()).to.deep.equal([]);
  });
});
