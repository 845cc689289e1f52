import { createServer } from 'node:http';
import { expect } from 'chai';
import type { Browser, Page } from 'playwright-core';
import { captureLog } from '../../core/log/captured-log.ts';
import { eventually } from '../../support/eventually.ts';
import { type RunningGateway, settingsFor, startGateway, TOKEN } from '../../support/gateway.ts';
import { type Listening, listen } from '../../support/listening.ts';
import { type HttpUpstream, lists, startHttpUpstream } from '../../support/platform/http-upstream.ts';
import { toolItem } from '../../support/platform/loads.ts';
import { openPage, startBrowser } from '../../support/process/browser.ts';

/** A site with one page. */
const startSite = (): Promise<Listening> =>
  listen(
    createServer((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/html' }).end('<!doctype html><title>page</title>');
    }),
  );

/** What a page sees of the answer to a request. What is run in a page is text: these sources know no DOM. */
const fetched = (url: string, init: object = {}) => `
  fetch(${JSON.stringify(url)}, ${JSON.stringify(init)}).then(
    async (response) => ({
      status: response.status,
      type: response.type,
      headers: Object.fromEntries(response.headers),
      body: await response.text(),
    }),
    (error) => ({ error: error.name }),
  )
`;

// biome-ignore lint/suspicious/noExplicitAny: what a page sees is not typed.
const ask = (page: Page, url: string, init = {}): Promise<any> => page.evaluate(fetched(url, init));

const TOOLS = '/mcp/v1/resources/read?uri=platform://tools';
const WITH_TOKEN = { headers: { Authorization: `Bearer ${TOKEN}`, 'X-Request-Id': 'of-the-page' } };
const PING = {
  method: 'POST',
  headers: { ...WITH_TOKEN.headers, 'Content-Type': 'application/json' },
  body: '{"jsonrpc":"2.0","id":1,"method":"ping"}',
};

describe('a page in Chromium', function () {
  this.timeout(120_000);
  const log = captureLog();
  let browser: Browser | undefined;
  let platform: HttpUpstream;
  let allowed: Listening;
  let foreign: Listening;
  let running: RunningGateway;

  before(async function () {
    browser = await startBrowser(this);
    [allowed, foreign] = await Promise.all([startSite(), startSite()]);
    platform = await startHttpUpstream(lists({ tools: [toolItem('nmap')] }));
    const http = { allowedOrigins: [allowed.url] };
    running = await startGateway(settingsFor(platform.url, { http }), { logger: log.logger });
  });

  const open = async (url: string, options = {}) => (await openPage(browser, url, options)).page;

  it('of an allowed origin reads over HTTP, sees headers and problems, and speaks MCP', async () => {
    const page = await open(allowed.url);
    const url = running.url + TOOLS;
    const first = await ask(page, url, WITH_TOKEN);
    expect(first).to.include({ status: 200, type: 'cors' });
    expect(JSON.parse(first.body)).to.deep.equal([toolItem('nmap')]);
    expect(first.headers).to.include({ 'x-request-id': 'of-the-page' });
    expect(first.headers).to.include.keys('etag', 'cache-status', 'cache-control');
    const missing = await ask(page, url);
    expect([missing.status, missing.headers['www-authenticate']]).to.deep.equal([401, 'Bearer']);
    expect(JSON.parse(missing.body)).to.include({ code: 'credential_missing' });
    const seen = await ask(page, `${running.url}/mcp`, PING);
    expect(JSON.parse(seen.body)).to.deep.equal({ jsonrpc: '2.0', id: 1, result: {} });
  });

  it('of a foreign origin can neither read nor use MCP, with or without a token', async () => {
    const page = await open(foreign.url);
    const asked = platform.requests.length;
    const told = log.lines().length;
    for (const init of [WITH_TOKEN, {}]) {
      expect(await ask(page, running.url + TOOLS, init)).to.deep.equal({ error: 'TypeError' });
    }
    expect(await ask(page, `${running.url}/mcp`, PING)).to.deep.equal({ error: 'TypeError' });
    // What a browser sends without asking first, since it shows the page nothing of the answer.
    const blind = { mode: 'no-cors', method: 'POST', body: PING.body };
    await ask(page, `${running.url}/mcp`, blind);
    const lines = await eventually(() => {
      const since = log.lines().slice(told);
      return since.filter(({ method }) => method === 'POST').length > 0 && since;
    });
    expect([...new Set(lines.map(({ outcome }) => outcome))]).to.deep.equal(['origin_refused']);
    expect(lines.map(({ method }) => method)).to.include.members(['GET', 'OPTIONS', 'POST']);
    expect(platform.requests).to.have.length(asked);
  });

  it("of Portico's own origin can use MCP without a setting", async () => {
    // Portico's own documents may ask for nothing at all: this stands for a page behind the same proxy.
    const page = await open(`${running.url}/livez`, { bypassCSP: true });
    const seen = await ask(page, '/mcp', PING);
    expect(seen).to.include({ status: 200, type: 'basic' });
    expect(JSON.parse(seen.body)).to.deep.equal({ jsonrpc: '2.0', id: 1, result: {} });
    expect(seen.headers).to.not.have.property('access-control-allow-origin');
  });
});
