import { expect } from 'chai';
import { exchange, get, requestText } from '../../support/raw-http.ts';
import { LIST, serve } from './served.ts';

const OTHER_PATHS = [
  ...['/', '/mcp/v1/resources/', '/MCP/v1/resources', '/mcp/v1/Resources', '//mcp/v1/resources', '/mcp//v1/resources'],
  ...['/mcp/v1/./resources', '/mcp/v1/x/../resources', '/mcp/v1/resource%73', '/mcp/v1/resources%2Fread'],
  ...['/mcp/v1/resources;x', '/mcp/v1/resources/read/x', '/livez/', '/Livez', '/admin', '/mcp'],
];

describe('a path', () => {
  it('is 404 in another spelling, with the paths that there are', async () => {
    const { url, ended } = await serve();
    const detail =
      'There is no such path. Lists are at /mcp/v1/resources and /mcp/v1/resources/read, and MCP, where it is on, at /mcp.';
    for (const path of OTHER_PATHS) {
      expect((await exchange(url, get(path))).json(), path).to.include({ status: 404, code: 'not_found', detail });
    }
    expect((await exchange(url, requestText('OPTIONS', '*'))).status).to.equal(404);
    for (const record of await ended(OTHER_PATHS.length + 1)) {
      expect(record).to.include({ route: 'unmatched', status: 404, outcome: 'not_found' });
    }
  });

  it('is 405 with another method, with the methods that it has', async () => {
    const { url, ended } = await serve();
    const methods = ['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'PROPFIND', 'QUERY'];
    for (const method of methods) {
      const response = await exchange(url, requestText(method, LIST));
      expect(response.json(), method).to.include({ status: 405, code: 'method_not_allowed' });
      expect(response.headers.get('allow')).to.equal('GET, HEAD');
    }
    const records = (await ended(methods.length)).map(({ method, route, outcome }) => [method, route, outcome]);
    expect(records).to.deep.equal(methods.map((method) => [method, LIST, 'method_not_allowed']));
  });
});

describe('a target in absolute form', () => {
  it('is checked by its own host, not by the Host header', async () => {
    const { url } = await serve();
    expect((await exchange(url, get(`http://evil.example${LIST}`))).status).to.equal(421);
    expect((await exchange(url, get(`http://LOCALHOST${LIST}`, { Host: 'evil.example' }))).status).to.equal(200);
    expect((await exchange(url, get(`http://localhost${LIST}`, { Host: undefined }))).status).to.equal(400);
  });

  it('that is not a URL is 400, and not logged', async () => {
    const { url, ended, bugs } = await serve();
    for (const target of ['http://a:SECRET', 'http://a:SECRET/x', 'http://SECRET@a/', `http://[SECRET]${LIST}`]) {
      const { status, headers, body } = await exchange(url, get(target));
      expect(status, target).to.equal(400);
      expect(JSON.stringify([...headers]) + body).not.to.match(/secret/i);
    }
    expect(JSON.stringify(await ended(4))).not.to.match(/secret/i);
    expect(bugs).to.deep.equal([]);
  });
});
