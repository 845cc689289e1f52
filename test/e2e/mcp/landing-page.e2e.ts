import { expect } from 'chai';
import type { Browser } from 'playwright-core';
import { settingsFor, startGateway } from '../../support/gateway.ts';
import { expectAccessible, expectFits, openPage, SCHEMES, startBrowser } from '../../support/process/browser.ts';

// What is run in the page is text: these sources know no DOM.
const OPEN_ALL = "document.querySelectorAll('details').forEach((one) => { one.open = true; })";

describe('the page at /, in Chromium', function () {
  this.timeout(120_000);
  let browser: Browser | undefined;
  let url: string;

  before(async function () {
    browser = await startBrowser(this);
    url = `${(await startGateway(settingsFor('http://127.0.0.1:1'))).url}/`;
  });

  it('loads nothing but itself, and selects a snippet with its address on click', async () => {
    const { page, requested, complaints } = await openPage(browser, url);
    await page.evaluate(OPEN_ALL);
    await page.waitForLoadState('networkidle');
    expect(requested).to.deep.equal([url]);
    expect(complaints).to.deep.equal([]);
    await page.locator('pre code').first().click();
    expect(await page.evaluate('String(getSelection())')).to.equal(
      `claude mcp add --transport http portico ${url}mcp --header "Authorization: Bearer $PORTICO_TOKEN"`,
    );
    await page.getByRole('link', { name: '/openapi.json' }).click();
    await page.waitForURL(`${url}openapi.json`);
    expect(await page.textContent('body')).to.contain('"openapi":"3.1');
  });

  for (const colorScheme of SCHEMES) {
    it(`is accessible and fits: ${colorScheme}`, async () => {
      const { page } = await openPage(browser, url, { colorScheme });
      await page.evaluate(OPEN_ALL);
      // The rules of axe are checked at the last width: in light on a narrow screen, in dark on a wide one.
      for (const width of colorScheme === 'light' ? [1280, 360] : [360, 1280]) await expectFits(page, width);
      await expectAccessible(page, colorScheme);
    });
  }
});
