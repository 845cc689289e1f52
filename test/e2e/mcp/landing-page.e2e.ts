import { expect } from 'chai';
import type { Browser, BrowserContextOptions } from 'playwright-core';
import { type RunningGateway, settingsFor, startGateway } from '../../support/gateway.ts';
import {
  CUT,
  GROUND,
  GROUNDS,
  openPage,
  SCHEMES,
  startBrowser,
  VIEWPORTS,
  violationsIn,
} from '../../support/process/browser.ts';

// What is run in the page is text: these sources know no DOM.
const OPEN_ALL = "document.querySelectorAll('details').forEach((one) => { one.open = true; })";
const STYLE_ANEW = `
  const style = document.createElement('style');
  style.textContent = 'body { background: red !important }';
  document.head.append(style);
`;
const TEXT = "document.body.innerText.replace(/\\s+/g, ' ')";
describe('the page at /, in Chromium', function () {
  this.timeout(120_000);
  let browser: Browser | undefined;
  let running: RunningGateway;
  let url: string;

  before(async function () {
    browser = await startBrowser(this);
    running = await startGateway(settingsFor('http://127.0.0.1:1'));
    url = `${running.url}/`;
  });

  const open = (options: BrowserContextOptions = {}) => openPage(browser, url, options);

  it('loads nothing but itself, and complies with its content security policy', async () => {
    const { page, requested, complaints } = await open();
    await page.evaluate(OPEN_ALL);
    await page.waitForLoadState('networkidle');
    expect(requested).to.deep.equal([url]);
    expect(complaints).to.deep.equal([]);
  });

  it('is styled by its one allowed style', async () => {
    const { page, complaints } = await open({ colorScheme: 'light' });
    await page.evaluate(STYLE_ANEW);
    expect(await page.evaluate(GROUND)).to.equal(GROUNDS.light);
    expect(complaints.join()).to.contain('Content Security Policy');
  });

  it('is the same without scripts', async () => {
    const { page } = await open({ javaScriptEnabled: false });
    const shown = page.locator('details[open] pre');
    const third = page.locator('summary').nth(2);
    await third.click();
    expect(await shown.count()).to.equal(2);
    await third.press('Enter');
    expect(await shown.count()).to.equal(1);
  });

  it("shows the browser's address, and selects a snippet on click", async () => {
    const { page } = await open();
    await page.locator('pre code').first().click();
    expect(await page.evaluate('String(getSelection())')).to.equal(
      `claude mcp add --transport http portico ${url}mcp --header "Authorization: Bearer $PORTICO_TOKEN"`,
    );
  });

  it('links to the API description', async () => {
    const { page } = await open();
    await page.getByRole('link', { name: '/openapi.json' }).click();
    await page.waitForURL(`${url}openapi.json`);
    expect(await page.textContent('body')).to.contain('"openapi":"3.1');
  });

  for (const colorScheme of SCHEMES) {
    for (const [name, viewport] of Object.entries(VIEWPORTS)) {
      it(`is accessible: ${colorScheme}, ${name}`, async () => {
        const { page } = await open({ colorScheme, viewport });
        expect(await page.evaluate(GROUND)).to.equal(GROUNDS[colorScheme]);
        await page.evaluate(OPEN_ALL);
        expect(await page.evaluate('document.documentElement.scrollWidth')).to.equal(viewport.width);
        expect(await page.evaluate(CUT)).to.deep.equal([]);
        expect(await violationsIn(page)).to.deep.equal([]);
      });
    }
  }

  it('shows the same at 360 px as on a wide screen, without a version', async () => {
    const texts: string[] = [];
    for (const viewport of Object.values(VIEWPORTS)) {
      const { page } = await open({ viewport });
      await page.evaluate(OPEN_ALL);
      texts.push(await page.evaluate(TEXT));
    }
    expect(texts[0]).to.equal(texts[1]);
    expect(texts[0]?.replaceAll(url, '')).not.to.match(/\d+\.\d+\.\d+/);
  });
});
