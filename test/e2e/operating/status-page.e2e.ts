import { expect } from 'chai';
import type { Browser, BrowserContextOptions } from 'playwright-core';
import { eventually } from '../../support/eventually.ts';
import { type RunningGateway, settingsFor, startGateway } from '../../support/gateway.ts';
import { type HttpUpstream, listOf, startHttpUpstream } from '../../support/platform/http-upstream.ts';
import { openPage, startBrowser } from '../../support/process/browser.ts';

const HEADING_AT = "document.querySelector('h1').getBoundingClientRect().top";

describe('the status page, in Chromium', function () {
  this.timeout(120_000);
  let browser: Browser | undefined;
  let platform: HttpUpstream;
  let running: RunningGateway;
  let url: string;

  before(async function () {
    browser = await startBrowser(this);
    platform = await startHttpUpstream((request, response) => {
      const name = listOf(request);
      if (name === 'projects') return void response.writeHead(500).end();
      response.end(JSON.stringify({ [name]: [{ id: 'a', name: 'A' }], nextPageToken: '' }));
    });
    const settings = settingsFor(platform.url, {
      admin: { port: 0 },
      upstream: { retry: { attempts: 0 }, breaker: { minimumCalls: 4 } },
      resources: { tools: { fields: { description: 'summary' } } },
    });
    running = await startGateway(settings);
    for (let count = 0; count < 6; count += 1) {
      for (const name of ['projects', 'workflows', 'tools']) await running.read(name);
    }
    url = `${running.gateway.adminUrl}/`;
  });

  after(async () => {
    await browser?.close();
    await running?.gateway.close();
    await platform?.close();
  });

  const open = (options: BrowserContextOptions = {}) => openPage(browser, url, options);

  it('loads nothing but itself, and complies with its content security policy', async () => {
    const { page, requested, complaints } = await open();
    await page.waitForRequest(`${url}status`, { timeout: 20_000 });
    expect(new Set(requested)).to.deep.equal(new Set([url, `${url}status`]));
    expect(complaints).to.deep.equal([]);
  });

  it('shows faults and updates in place', async () => {
    const { page } = await open();
    await page.locator('.band.red').waitFor();
    expect(await page.title()).to.match(
      /^Red: projects: breaker (?:half-)?open for \d+ s after 4 × 500 and \d+ more · /,
    );
    expect(await page.textContent('[data-part=upstreams]'))
      .to.contain('projects')
      .and.contain('open')
      .and.contain('upstream_failed, answered with status 500');
    expect(await page.textContent('[data-part=verdict]')).to.contain('description is empty in every item');
    expect(await page.textContent('[data-part=changes]')).to.contain('projects: breaker open (4 of 4 calls failed)');
    const top = await page.evaluate(HEADING_AT);
    const calls = page.locator('[data-part=process] dd').first();
    const before = await calls.textContent();
    await running.read('workflows');
    await eventually(async () => (await calls.textContent()) !== before);
    expect(await page.evaluate(HEADING_AT)).to.equal(top);
  });

  it('is paused by its button, also from the keyboard', async () => {
    const { page, requested } = await open();
    await page.locator('.band').waitFor();
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    expect(await page.textContent('button')).to.equal('Resume');
    const before = requested.length;
    await page.clock.install();
    await page.clock.fastForward(20_000);
    expect(requested).to.have.length(before);
    await page.keyboard.press('Enter');
    await page.waitForRequest(`${url}status`);
  });

  it('shows that Portico does not answer', async () => {
    const { page } = await open();
    await page.context().setOffline(true);
    await eventually(async () => (await page.textContent('[role=status]'))?.includes('does not respond'));
    expect(await page.title()).to.contain('does not respond');
  });

  it('refers to the JSON without scripts', async () => {
    const { page } = await open({ javaScriptEnabled: false });
    expect(await page.locator('noscript a').getAttribute('href')).to.equal('status');
  });

  it('keeps its verdict in place while only time passes, so that it is announced once', async () => {
    const { page } = await open();
    const lasting = page.locator('[role=status] time').first();
    await lasting.waitFor();
    // A breaker that becomes half-open changes the verdict once.
    await eventually(async () => {
      await page.evaluate("document.querySelector('[role=status] li').isFirst = true");
      const before = await lasting.textContent();
      await eventually(async () => (await lasting.textContent()) !== before);
      return page.evaluate<boolean>("document.querySelector('[role=status] li').isFirst === true");
    });
  });
});
