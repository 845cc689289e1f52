import { Client, StreamableHTTPClientTransport, type VersionNegotiationMode } from '@modelcontextprotocol/client';
import { expect } from 'chai';
import { onCleanup } from '../../support/cleanup.ts';
import { type RunningGateway, settingsFor, startGateway, TOKEN } from '../../support/gateway.ts';
import { type HttpUpstream, listOf, startHttpUpstream } from '../../support/platform/http-upstream.ts';
import { TOOL_NAMES, URIS } from '../../support/resources.ts';
import { callOf, readOf, rpc } from '../../support/rpc.ts';

const JSON_TYPE = { 'content-type': 'application/json' };

/** One item of each list; what the lists do not document is left out of them. */
const ITEM = {
  id: 'a',
  name: 'Ä "quoted" \u2028',
  description: '',
  createTime: '2024-01-01T00:00:00Z',
  triggerType: 'MANUAL',
  status: 'ACTIVE',
  version: '1.2.3',
  category: 'SCANNER',
};

/** A client of the SDK, connected in a mode. */
async function connect(url: string, mode: VersionNegotiationMode) {
  const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode } });
  const requestInit = { headers: { authorization: `Bearer ${TOKEN}` } };
  await client.connect(new StreamableHTTPClientTransport(new URL(`${url}/mcp`), { requestInit }));
  onCleanup(() => client.close());
  return client;
}

describe('POST /mcp of a gateway', () => {
  let platform: HttpUpstream;
  let running: RunningGateway;

  before(async () => {
    platform = await startHttpUpstream((request, response) => {
      response.writeHead(200, JSON_TYPE).end(JSON.stringify({ [listOf(request)]: [ITEM] }));
    });
    running = await startGateway(settingsFor(platform.url));
  });

  it('lists tools with the keywords in settings', async () => {
    const keywords = ['SOAR app', 'Baustein'];
    const settings = settingsFor(platform.url, { resources: { tools: { keywords } } });
    const [plain, worded] = await Promise.all([startGateway(settingsFor(platform.url)), startGateway(settings)]);
    const listed = async ({ post }: RunningGateway) => {
      const { result } = JSON.parse(await (await post(rpc('tools/list'))).text());
      return result.tools[2];
    };
    const [before, after] = [await listed(plain), await listed(worded)];
    expect(after.description).to.equal(before.description.replace(/\.$/, ', SOAR app, Baustein.'));
    expect(after._meta['anthropic/searchHint']).to.equal(`${before._meta['anthropic/searchHint']} SOAR app Baustein`);
    expect(after._meta['anthropic/maxResultSizeChars']).to.equal(40_000);
    expect(after.inputSchema).to.deep.equal(before.inputSchema);
  });

  for (const [mode, version] of [
    ['legacy', '2025-11-25'],
    ['auto', '2026-07-28'],
    [{ pin: '2026-07-28' }, '2026-07-28'],
  ] as const) {
    it(`serves the SDK's client in mode ${JSON.stringify(mode)}, with the bytes of the HTTP reads`, async () => {
      const client = await connect(running.url, mode);
      expect(client.getNegotiatedProtocolVersion()).to.equal(version);
      const { resources } = await client.listResources();
      expect(resources.map(({ uri }) => uri)).to.deep.equal(URIS);
      for (const [index, { uri, name }] of resources.entries()) {
        const { contents, _meta: ofRead } = await client.readResource({ uri });
        const response = await running.read(name);
        const body = await response.text();
        expect(contents[0]).to.deep.include({ uri, mimeType: 'application/json', text: body });
        const call = { name: TOOL_NAMES[index] ?? '', arguments: { query: 'QUOTED' } };
        const { structuredContent, _meta: ofTool } = await client.callTool(call);
        const shown = body.replaceAll('\u2028', '\\\\u{2028}');
        expect(structuredContent).to.deep.equal({ items: JSON.parse(shown), total: 1 });
        const provenance = { upstream: name, etag: response.headers.get('etag'), stale: false };
        for (const meta of [ofRead, ofTool]) expect(meta?.['portico/list']).to.include(provenance);
        // Projects are loaded for each read.
        if (name !== 'projects') expect(ofTool?.['portico/list']).to.deep.equal(ofRead?.['portico/list']);
      }
    });
  }

  it('reports what settings leave out of a list, loaded, stored or unchanged', async () => {
    const etag = '"1"';
    const tools = [ITEM, { ...ITEM, id: 'b', category: 'OTHER' }, { name: 'without an id' }];
    const [rest, headers] = [JSON.stringify({ tools }), { ...JSON_TYPE, etag }];
    const own = await startHttpUpstream(({ headers: { 'if-none-match': known } }, response) =>
      known === etag ? response.writeHead(304, { etag }).end() : response.writeHead(200, headers).end(rest),
    );
    const list = { where: "category != 'OTHER'", invalidItems: 'drop' as const, cache: { minRefreshMs: 0 } };
    const { post } = await startGateway(settingsFor(own.url, { resources: { tools: list } }));
    const leftOut = { bySettings: 1, invalid: 1 };
    const call = callOf('list_installed_tools');
    for (const message of [call, call, readOf('tools'), callOf('list_installed_tools', { limit: 0 })]) {
      const noCache = message.method === 'resources/read';
      const response = await post(message, noCache ? { 'cache-control': 'no-cache' } : {});
      const { result } = JSON.parse(await response.text());
      expect(result._meta['portico/list']).to.deep.include({ upstream: 'tools', leftOut });
      if (!noCache) expect(result.structuredContent).to.deep.include({ total: 1, leftOut });
    }
    expect(own.requests).to.have.length(2);
  });
});
