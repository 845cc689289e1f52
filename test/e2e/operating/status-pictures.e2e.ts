import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import type { Browser, Page } from 'playwright-core';
import type { Status } from '../../../src/capabilities/status/gateway-status.ts';
import { eventually } from '../../support/eventually.ts';
import { type RunningGateway, settingsFor, startGateway } from '../../support/gateway.ts';
import { listOf, startHttpUpstream } from '../../support/platform/http-upstream.ts';
import { CUT, GROUND, GROUNDS, openPage, SCHEMES, startBrowser, violationsIn } from '../../support/process/browser.ts';

const WIDTHS = [360, 800, 1400];
const IMAGES = fileURLToPath(new URL('../../../docs/images/', import.meta.url));
/** Those of the documentation. RECORD=1 npx mocha test/e2e/operating/status-pictures.e2e.ts takes them again. */
const KEPT: Readonly<Record<string, string>> = {
  'healthy, 800 light': 'status-healthy.png',
  'breaker open, 800 light': 'status-breaker-open.png',
};
const PICTURES = process.env['PICTURES'];

interface Scene {
  readonly running: RunningGateway;
  /** Lists that the platform answers with 503. */
  readonly failing: Set<string>;
  /** Reads for so many times ten seconds of the gateway's clock. */
  pass(slots: number): Promise<void>;
  later(seconds: number): void;
  status(): Promise<Status>;
}

/** How each state comes about, after ten minutes without a fault, and the first line of its verdict. */
const STATES: Readonly<Record<string, readonly [text: RegExp, begin: (scene: Scene) => Promise<void>]>> = {
  healthy: [/^$/, async () => {}],
  'breaker open': [
    /^projects: breaker open for 34 s after \d+ × 503$/,
    async ({ failing, running, pass, status, later }) => {
      failing.add('projects');
      await eventually(async () => {
        await running.read('projects');
        return (await status()).upstreams[0]?.breaker === 'open';
      });
      await pass(2);
      later(14);
    },
  ],
};

describe('the status page in pictures', function () {
  this.timeout(120_000);
  let browser: Browser | undefined;

  before(async function () {
    browser = await startBrowser(this);
  });

  after(async () => {
    await browser?.close();
  });

  async function startScene(): Promise<Scene> {
    let now = Date.now() - 3_600_000;
    const failing = new Set<string>();
    const { url } = await startHttpUpstream((request, response) => {
      const name = listOf(request);
      if (failing.has(name)) return void response.writeHead(503).end();
      const items = Array.from({ length: 12 }, (_, index) => ({ id: `${name}-${index}`, name: `Item ${index}` }));
      response.end(JSON.stringify({ [name]: items, nextPageToken: '' }));
    });
    const breaker = { windowMs: 300, openMs: 600_000, minimumCalls: 10 };
    const settings = settingsFor(url, {
      ...{ admin: { port: 0 }, upstream: { retry: { attempts: 0 }, breaker } },
    });
    const running = await startGateway(settings, { now: () => now });
    const status = async () => (await (await fetch(`${running.gateway.adminUrl}/status`)).json()) as Status;

    async function pass(slots: number): Promise<void> {
      for (let slot = 0; slot < slots; slot += 1) {
        now += 10_000;
        const names = ['workflows', 'tools', ...Array.from({ length: 2 + ((slot * 7) % 5) }, () => 'projects')];
        for (const name of names) await (await running.read(name)).arrayBuffer();
      }
    }

    await pass(60);
    return { running, failing, pass, status, later: (seconds) => (now += 1000 * seconds) };
  }

  async function keep(page: Page, name: string): Promise<void> {
    await page.evaluate("document.querySelector('h1 span').textContent = 'portico-1'");
    const bytes = await page.screenshot({ fullPage: PICTURES !== undefined });
    if (PICTURES !== undefined) await writeFile(join(PICTURES, `${name.replaceAll(/\W+/g, '-')}.png`), bytes);
    const file = KEPT[name];
    if (process.env['RECORD'] === '1' && file !== undefined) await writeFile(join(IMAGES, file), bytes);
  }

  for (const [state, [text, begin]] of Object.entries(STATES)) {
    it(`is accessible, fits and begins with the verdict: ${state}`, async () => {
      const scene = await startScene();
      await begin(scene);
      // Other tests on the machine can delay the event loop.
      const troubles = (await scene.status()).verdict.troubles.filter(({ subject }) => subject !== 'event loop');
      expect(troubles[0]?.text ?? '').to.match(text);
      for (const width of WIDTHS) {
        for (const colorScheme of SCHEMES) {
          const viewport = { width, height: 1000 };
          const { page } = await openPage(browser, `${scene.running.gateway.adminUrl}/`, { colorScheme, viewport });
          await page.locator('.band').waitFor();
          const band = await page.locator('[role=status]').boundingBox();
          expect(band?.y).to.be.below(120);
          await keep(page, `${state}, ${width} ${colorScheme}`);
          expect(await page.evaluate(GROUND)).to.equal(GROUNDS[colorScheme]);
          expect(await page.evaluate('document.documentElement.scrollWidth')).to.equal(width);
          expect(await page.evaluate<string[]>(CUT)).to.deep.equal([]);
          expect(await violationsIn(page)).to.deep.equal([]);
          await page.context().close();
        }
      }
    });
  }
});
