import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { expect } from 'chai';
import { FOUR } from '../../core/resources/findings.ts';
import { TOKEN } from '../../support/authorization/caller.ts';
import { onCleanup } from '../../support/cleanup.ts';
import { type RunningGateway, startGateway } from '../../support/gateway.ts';
import { type HttpUpstream, lists, startHttpUpstream } from '../../support/platform/http-upstream.ts';
import { NAMES, TOOL_NAMES, URIS } from '../../support/resources.ts';

const FOUND = [
  { id: 7, name: 'Open port', severity: 'HIGH', foundAt: 1_700_000_000, more: 'left out' },
  { id: 8, name: 'Old library', severity: 'LOW', foundAt: '2024-03-05T11:20:30+01:00' },
];
const FINDINGS = [
  { id: '7', name: 'Open port', severity: 'HIGH', foundAt: '2023-11-14T22:13:20Z' },
  { id: '8', name: 'Old library', severity: 'LOW', foundAt: '2024-03-05T10:20:30Z' },
];

describe('a gateway with a fourth resource in its registry', () => {
  let platform: HttpUpstream;

  beforeEach(async () => {
    platform = await startHttpUpstream(lists({ findings: FOUND }));
  });

  /** Serves the registry of four to settings that name these upstreams. */
  function start(...names: string[]): Promise<RunningGateway> {
    const upstreams = Object.fromEntries(names.map((name) => [name, { baseUrl: platform.url }]));
    return startGateway({ upstreams }, { resources: FOUR });
  }

  const list = async ({ url }: RunningGateway) => {
    const response = await fetch(`${url}/mcp/v1/resources`, { headers: { authorization: `Bearer ${TOKEN}` } });
    return ((await response.json()) as { uri: string }[]).map(({ uri }) => uri);
  };

  it('lists and reads it over HTTP, from the platform and from the cache', async () => {
    const running = await start(...NAMES, 'findings');
    expect(await list(running)).to.deep.equal([...URIS, 'platform://findings']);
    for (const cache of ['portico; fwd=miss; stored', /^portico; hit; ttl=\d+$/]) {
      const response = await running.read('findings');
      expect(response.status).to.equal(200);
      expect(response.headers.get('cache-status')).to.match(new RegExp(cache));
      expect(await response.json()).to.deep.equal(FINDINGS);
    }
    expect(platform.requests.map(({ url }) => url)).to.deep.equal(['/v1/findings?state=open&pageSize=100']);
  });

  it('lists, reads and describes it over MCP, as a resource and as a tool', async () => {
    const running = await start(...NAMES, 'findings');
    const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode: 'auto' } });
    onCleanup(() => client.close());
    const requestInit = { headers: { authorization: `Bearer ${TOKEN}` } };
    await client.connect(new StreamableHTTPClientTransport(new URL(`${running.url}/mcp`), { requestInit }));
    for (const description of ['All open findings.', 'All projects accessible'])
      expect(client.getInstructions()).to.contain(description);

    const { resources } = await client.listResources();
    const described = { name: 'findings', title: 'Findings', description: 'All open findings.' };
    expect(resources.at(-1)).to.deep.include({ uri: 'platform://findings', ...described });
    const { contents } = await client.readResource({ uri: 'platform://findings' });
    expect(contents[0]).to.include({ text: await (await running.read('findings')).text() });

    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).to.deep.equal([...TOOL_NAMES, 'list_findings']);
    const found = await client.callTool({ name: 'list_findings', arguments: { severity: 'LOW' } });
    expect(found.structuredContent).to.deep.equal({ items: FINDINGS.slice(1), total: 1 });
  });
});
