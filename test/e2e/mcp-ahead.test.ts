import { expect } from 'chai';
import { ENVELOPE } from '../mcp/asked.ts';
import { type RunningGateway, settingsFor, startGateway, TOKEN } from '../support/gateway.ts';
import { answerJson, type HttpUpstream, startHttpUpstream } from '../support/http-upstream.ts';

const URI = 'platform://tools';
const MODERN = { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'resources/read', 'mcp-name': URI };
const LISTS = { tools: [{ id: 'a', name: 'ä "quoted" \\ \u2028', version: '1.2', category: 'C', description: '' }] };

/** One request of each kind that is hot, and some that are not quite. */
const REQUESTS: readonly { readonly headers?: Record<string, string>; readonly body: object }[] = [
  { body: { method: 'resources/read', params: { uri: URI } } },
  { body: { method: 'resources/read', params: { uri: URI } }, headers: { 'mcp-protocol-version': '2025-11-25' } },
  { body: { method: 'resources/read', params: { uri: URI } }, headers: { 'mcp-protocol-version': '2020-01-01' } },
  { body: { method: 'resources/read', params: { uri: URI, _meta: ENVELOPE } }, headers: MODERN },
  {
    body: { method: 'resources/read', params: { uri: URI, _meta: ENVELOPE } },
    headers: { ...MODERN, 'mcp-name': 'x' },
  },
  { body: { method: 'resources/read', params: { uri: URI } }, headers: { 'cache-control': 'no-cache' } },
  { body: { method: 'resources/read', params: { uri: 'platform://nothing' } } },
  { body: { method: 'tools/list' } },
  {
    body: { method: 'resources/list', params: { _meta: ENVELOPE } },
    headers: { ...MODERN, 'mcp-method': 'resources/list' },
  },
  { body: { method: 'ping' } },
  { body: { method: 'nothing' } },
];

describe('MCP that is answered ahead of Koa and of the SDK', () => {
  let upstream: HttpUpstream;
  const running: RunningGateway[] = [];

  before(async () => {
    upstream = await startHttpUpstream(answerJson(LISTS));
  });
  afterEach(async () => {
    await Promise.all(running.splice(0).map(({ gateway }) => gateway.close()));
  });
  after(() => upstream.close());

  async function start(answerAhead: boolean): Promise<RunningGateway> {
    const at = Date.now();
    const settings = settingsFor(upstream.url, { http: { answerAhead }, shutdown: { delayMs: 0 } });
    // The clock stands still from the first read on, so that what is left of its freshness can be compared.
    const one = await startGateway(settings, { now: () => at });
    running.push(one);
    return one;
  }

  async function post(url: string, { headers = {}, body }: (typeof REQUESTS)[number], id: unknown) {
    const response = await fetch(`${url}/mcp`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${TOKEN}`,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        'x-request-id': 'request-of-the-test',
        ...headers,
      },
      body: JSON.stringify({ jsonrpc: '2.0', id, ...body }),
    });
    const fields = Object.fromEntries(response.headers);
    return { status: response.status, headers: { ...fields, date: '' }, text: await response.text() };
  }

  it('is answered as they answer it, in both eras', async () => {
    const [ahead, layers] = [await start(true), await start(false)];
    for (const [index, request] of REQUESTS.entries()) {
      for (const id of [1, 1, 2, 'three', `${index}`]) {
        const answer = await post(ahead.url, request, id);
        expect(answer).to.deep.equal(await post(layers.url, request, id));
      }
    }
  });

  it('gives the bytes of the HTTP read, and each caller its own id', async () => {
    const { url, read } = await start(true);
    const text = await (await read('tools')).text();
    const ids = Array.from({ length: 50 }, (_, index) => index);
    const answers = await Promise.all(ids.map((id) => post(url, { body: REQUESTS[0]?.body ?? {} }, id)));
    for (const [id, answer] of answers.entries()) {
      const json = JSON.parse(answer.text);
      expect(json.id).to.equal(id);
      expect(json.result.contents).to.deep.equal([{ uri: URI, mimeType: 'application/json', text }]);
    }
  });
});
