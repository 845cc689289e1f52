import { existsSync } from 'node:fs';
import axe, { type AxeResults } from 'axe-core';
import { expect } from 'chai';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { onCleanup } from '../cleanup.ts';
import { skipAloud } from '../tools.ts';

/** Chromium as Debian has it, and as others do. */
const PLACES = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

/** Without the sandbox, since tests may run as root, and without background requests of Chromium. */
const ARGUMENTS = [
  ...['--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run'],
  ...['--disable-background-networking', '--disable-component-update', '--disable-sync'],
];

/** A real browser, closed with the tests; skips the tests of a suite aloud where there is none. */
export async function startBrowser(context: Mocha.Context): Promise<Browser> {
  const executablePath = PLACES.find((place) => existsSync(place));
  if (executablePath === undefined) skipAloud(context, 'Chromium is not here');
  const browser = await chromium.launch({ executablePath, args: ARGUMENTS });
  onCleanup(() => browser.close());
  return browser;
}

export const SCHEMES = ['light', 'dark'] as const;
/** Background of each of Portico's pages. */
const GROUNDS = { light: 'rgb(247, 245, 241)', dark: 'rgb(20, 21, 26)' };

// What is run in the page is text: these sources know no DOM.
const GROUND = 'getComputedStyle(document.body).backgroundColor';
/** Elements with more in them than they show. */
const CUT = `
  [...document.querySelectorAll('header *, main *')]
    .filter((one) => one.scrollWidth > one.clientWidth + 1 && getComputedStyle(one).display !== 'inline')
    .map((one) => one.outerHTML.slice(0, 80))
`;

export interface PageOptions extends BrowserContextOptions {
  /** Whether `page.clock` can forward the time of the page. @default false */
  readonly hasOwnClock?: boolean;
}

/** Opens a page, and records requests and console messages. It is closed with the test. */
export async function openPage(browser: Browser | undefined, url: string, more: PageOptions = {}) {
  const { hasOwnClock = false, ...options } = more;
  if (browser === undefined) throw new Error('there is no browser');
  const context = await browser.newContext(options);
  onCleanup(() => context.close());
  const page = await context.newPage();
  const requested: string[] = [];
  const complaints: string[] = [];
  page.on('request', (request) => requested.push(request.url()));
  page.on('console', (message) => complaints.push(message.text()));
  page.on('pageerror', (error) => complaints.push(error.message));
  if (hasOwnClock) await page.clock.install();
  expect((await page.goto(url))?.status()).to.equal(200);
  return { page, requested, complaints };
}

/** Expects a page that fits into this width. */
export async function expectFits(page: Page, width: number): Promise<void> {
  await page.setViewportSize({ width, height: 1000 });
  expect(await page.evaluate('document.documentElement.scrollWidth')).to.equal(width);
  expect(await page.evaluate<string[]>(CUT)).to.deep.equal([]);
}

/** Expects a page in its colours that has no fault by the rules of axe, its best practices too. */
export async function expectAccessible(page: Page, scheme: keyof typeof GROUNDS): Promise<void> {
  expect(await page.evaluate(GROUND)).to.equal(GROUNDS[scheme]);
  const tools = await page.context().newCDPSession(page);
  // Not as a script of the page, which allows none.
  await tools.send('Runtime.evaluate', { expression: axe.source });
  const { violations, passes } = await page.evaluate<AxeResults>('axe.run(document)');
  expect(passes.map(({ id }) => id)).to.include.members(['color-contrast', 'document-title', 'html-has-lang']);
  const found = violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`);
  expect(found).to.deep.equal([]);
}
