import { expect } from 'chai';
import { closeAll, LIST, serve } from '../served.ts';
import { ask, get } from '../wire.ts';

describe('a path', () => {
  afterEach(closeAll);

  for (const path of [
    '/',
    '/mcp/v1/resources/',
    '/MCP/v1/resources',
    '/mcp/v1/Resources',
    '//mcp/v1/resources',
    '/mcp//v1/resources',
    '/mcp/v1/./resources',
    '/mcp/v1/x/../resources',
    '/mcp/v1/resource%73',
    '/mcp/v1/resources%2Fread',
    '/mcp/v1/resources;x',
    '/mcp/v1/resources/read/x',
    '/livez/',
    '/Livez',
    '/admin',
  ]) {
    it(`is unknown as ${path}`, async () => {
      const { url } = await serve();
      const { status, json } = await ask(url, get(path));
      expect(status).to.equal(404);
      expect(json['code']).to.equal('not_found');
    });
  }

  it('is unknown as *', async () => {
    const { url } = await serve();
    expect((await ask(url, get('*', {}, 'OPTIONS'))).status).to.equal(404);
  });

  for (const method of ['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'PROPFIND', 'QUERY']) {
    it(`that is known takes no ${method}`, async () => {
      const { url, access } = await serve();
      const { status, headers, json } = await ask(url, get(LIST, {}, method));
      expect(status).to.equal(405);
      expect(headers.get('allow')).to.equal('GET, HEAD');
      expect(json['code']).to.equal('method_not_allowed');
      expect((await access(1))[0]).to.include({ method, route: LIST, outcome: 'method_not_allowed' });
    });
  }
});

describe('a target in absolute form', () => {
  afterEach(closeAll);

  it('is answered for its path', async () => {
    const { url } = await serve();
    expect((await ask(url, get(`${url}${LIST}`))).status).to.equal(200);
    expect((await ask(url, get(`${url}/livez?x`))).status).to.equal(200);
    expect((await ask(url, get(url))).status).to.equal(404);
  });

  it('counts by its own host, not by the Host header', async () => {
    const { url } = await serve();
    expect((await ask(url, get(`http://evil.example${LIST}`))).status).to.equal(421);
    expect((await ask(url, get(`http://LOCALHOST${LIST}`, { Host: 'evil.example' }))).status).to.equal(200);
    expect((await ask(url, get(`http://localhost${LIST}`, { Host: undefined }))).status).to.equal(400);
  });
});
