import { expect } from 'chai';
import { type RunningGateway, settingsFor, startGateway } from '../../support/gateway.ts';
import { type HttpUpstream, listOf, startHttpUpstream } from '../../support/platform/http-upstream.ts';
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

describe('POST /mcp of a gateway', () => {
  let platform: HttpUpstream;

  before(async () => {
    platform = await startHttpUpstream((request, response) => {
      response.writeHead(200, JSON_TYPE).end(JSON.stringify({ [listOf(request)]: [ITEM] }));
    });
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
