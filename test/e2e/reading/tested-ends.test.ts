import { expect } from 'chai';
import { settingsFor, startGateway } from '../../support/gateway.ts';
import { startHttpUpstream } from '../../support/platform/http-upstream.ts';

const tools = Array.from({ length: 120 }, (_, index) => ({ id: `t-${index}`, name: `Tool ${index}` }));
const cache = { ttlMs: 1000, staleWhileRevalidateMs: 0, staleIfErrorMs: 0, minRefreshMs: 0 };

/** A gateway in front of a platform that serves all tools in one page. */
async function start(etag?: string) {
  const upstream = await startHttpUpstream((request, response) => {
    if (etag !== undefined && request.headers['if-none-match'] === etag) {
      response.writeHead(304, { ETag: etag }).end();
      return;
    }
    response.writeHead(200, { 'content-type': 'application/json', ...(etag !== undefined && { ETag: etag }) });
    response.end(JSON.stringify({ tools }));
  });
  let now = 0;
  const { read } = await startGateway(
    settingsFor(upstream.url, {
      confirmation: { enabled: true },
      resources: { tools: { pagination: { kind: 'none' }, maxPages: 1, cache } },
    }),
    { now: () => now },
  );
  return {
    async read(token = 'one') {
      now += 2000;
      const asked = upstream.requests.length;
      const response = await read('tools', { headers: { authorization: `Bearer ${token}` } });
      const body = (await response.json()) as { length?: number };
      return { status: response.status, body, requests: upstream.requests.length - asked };
    },
  };
}

describe('a list whose end no reply shows', () => {
  for (const [what, etag] of [
    ['for the same bytes', undefined],
    ['when the platform answers 304', '"1"'],
  ] as const) {
    it(`is tested for more items once, and not again ${what}`, async () => {
      const { read } = await start(etag);
      for (const [token, requests] of [
        ['one', 3],
        ['one', 1],
        ['two', 1],
      ] as const) {
        const { status, body, requests: asked } = await read(token);
        expect([status, body.length, asked]).to.deep.equal([200, 120, requests]);
      }
    });
  }

  it('is an error if a test finds more items, although they are invalid', async () => {
    const upstream = await startHttpUpstream((request, response) => {
      const { searchParams: query } = new URL(request.url ?? '', 'http://platform.example');
      const offset = Number(query.get('offset') ?? 0);
      const items = [...tools.slice(0, 10), ...tools.slice(10).map(({ name }) => ({ name }))];
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify({ tools: items.slice(offset, offset + Number(query.get('limit') ?? 10)) }));
    });
    const settings = { confirmation: { enabled: true }, resources: { tools: { pagination: { kind: 'none' }, cache } } };
    const { read } = await startGateway(settingsFor(upstream.url, settings as object));
    const response = await read('tools');
    expect(response.status).to.equal(502);
    expect(await response.json())
      .to.have.property('detail')
      .that.contains('the list has 10 items');
  });
});
