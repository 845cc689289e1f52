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
});
