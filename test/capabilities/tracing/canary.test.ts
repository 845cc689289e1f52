import { expect } from 'chai';
import { json, startHttpUpstream, tokenOf } from '../../support/platform/http-upstream.ts';
import { exchange, get, requestText } from '../../support/raw-http.ts';
import { postText, rpc } from '../../support/rpc.ts';
import { startTraced } from './traced.ts';

const LIST = '/mcp/v1/resources';
/** Of hexadecimal digits too: one of them could be taken for an id. */
const TOKENS = ['canary-of-the-test.1', 'c0ffee00c0ffee00c0ffee00c0ffee00'];

describe('a token', () => {
  for (const token of TOKENS) {
    it(`is in no span, wherever it was said: ${token.slice(0, 6)}`, async () => {
      // The platform says it again, in the one place that leads to another request.
      const platform = await startHttpUpstream((request, response) => {
        const next = request.url?.includes('pageToken') ? '' : tokenOf(request);
        json({ tools: [{ id: `a${next.length}`, name: 'A' }], nextPageToken: next })(request, response);
      });
      const traced = await startTraced(platform.url);
      const { collector } = traced;
      const trace = { traceparent: `00-${token}-00f067aa0ba902b7-01`, tracestate: `a=${token}` };
      const known = { traceparent: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01' };
      const own = { Authorization: `Bearer ${token}` };
      const post = (method: string, params: object, more = {}) =>
        postText(rpc(method, params, token), { ...own, ...more });
      for (const text of [
        get(`${LIST}/read?uri=platform://tools`, { ...own, ...known, tracestate: `a=${token}`, 'User-Agent': token }),
        get(`${LIST}/read?uri=platform://tools&${token}`, { ...own, ...trace }),
        get(`${LIST}/read?uri=platform://${token}`, own),
        get(`/${token}`, own),
        get(LIST, { ...own, 'X-Request-Id': token, Host: `${token}.example` }),
        requestText(token.toUpperCase().replaceAll(/[^A-Z]/g, ''), LIST, own),
        post('resources/read', { uri: `platform://${token}`, _meta: trace }),
        post('resources/read', { uri: 'platform://tools', _meta: { ...known, tracestate: `a=${token}` } }),
        post('tools/call', { name: token, arguments: { query: token }, _meta: trace }),
        post('tools/call', { name: 'list_installed_tools', arguments: { query: token }, uri: token }),
        post(token, {}, { 'Mcp-Method': token, 'MCP-Protocol-Version': token }),
      ]) {
        await exchange(traced.url, text);
      }
      await traced.end();
      expect(platform.requests.some(({ url }) => url?.includes(token))).to.equal(true);
      expect(platform.requests.some(({ headers }) => headers['traceparent'] !== undefined)).to.equal(true);
      expect(platform.requests.map(({ headers }) => headers['tracestate']).join()).not.to.contain(token);
      expect(collector.spans.length).to.be.above(20);
      const sent = collector.bodies.join().toLowerCase();
      expect(sent).not.to.contain(token).and.not.to.contain(Buffer.from(token).toString('base64').toLowerCase());
    });
  }
});
