import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import type { Browser } from 'playwright-core';
import type { Status } from '../../../src/capabilities/status/gateway-status.ts';
import { eventually } from '../../support/eventually.ts';
import { settingsFor, startGateway } from '../../support/gateway.ts';
import { listOf, startHttpUpstream } from '../../support/platform/http-upstream.ts';
import { expectAccessible, expectFits, openPage, SCHEMES, startBrowser } from '../../support/process/browser.ts';

const WIDTHS = [360, 800, 1400];
const HEADING_AT = "document.querySelector('h1').getBoundingClientRect().top";
const IMAGES = fileURLToPath(new URL('../../../docs/images/', import.meta.url));
/** Pictures of the documentation. RECORD=1 npx mocha test/e2e/operating/status-page.e2e.ts takes them again. */
const KEPT: Readonly<Record<string, string>> = {
  'healthy, 800 light': 'status-healthy.png',
  'breaker open, 800 light': 'status-breaker-open.png',
};

type Scene = Awaited<ReturnType<typeof startScene>>;

/** A gateway after ten minutes of its clock without a fault; then the platform fails projects, if `isBroken`. */
async function startScene(isBroken: boolean) {
  let now = Date.now() - 3_600_000;
  let isFailing = false;
  const { url } = await startHttpUpstream((request, response) => {
    const name = listOf(request);
    if (isFailing && name === 'projects') return void response.writeHead(503).end();
    const items = Array.from({ length: 12 }, (_, index) => ({ id: `${name}-${index}`, name: `Item ${index}` }));
    response.end(JSON.stringify({ [name]: items, nextPageToken: '' }));
  });
  const breaker = { windowMs: 300, openMs: 600_000, minimumCalls: 10 };
  const settings = settingsFor(url, { admin: { port: 0 }, upstream: { retry: { attempts: 0 }, breaker } });
  const { gateway, read } = await startGateway(settings, { now: () => now });
  const status = async () => (await (await fetch(`${gateway.adminUrl}/status`)).json()) as Status;

  /** Reads for so many times ten seconds. */
  async function pass(slots: number): Promise<void> {
    for (let slot = 0; slot < slots; slot += 1) {
      now += 10_000;
      const names = ['workflows', 'tools', ...Array.from({ length: 2 + ((slot * 7) % 5) }, () => 'projects')];
      for (const name of names) await (await read(name)).arrayBuffer();
    }
  }

  await pass(60);
  if (isBroken) {
    isFailing = true;
    await eventually(async () => {
      await read('projects');
      return (await status()).upstreams[0]?.breaker === 'open';
    });
    await pass(2);
    now += 14_000;
  }
  return { url: `${gateway.adminUrl}/`, read, status };
}

describe('the status page, in Chromium', function () {
  this.timeout(120_000);
  let browser: Browser | undefined;
  let healthy: Scene;
  let broken: Scene;

  before(async function () {
    browser = await startBrowser(this);
    healthy = await startScene(false);
    broken = await startScene(true);
  });

  for (const [state, text] of [
    ['healthy', /^$/],
    [
      'breaker open',
      /^projects: breaker open \(\d+ of \d+ calls failed; the last: upstream_failed, answered with status 503\)$/,
    ],
  ] as const) {
    it(`is accessible, fits and begins with the verdict: ${state}`, async () => {
      const { url, status } = state === 'healthy' ? healthy : broken;
      // Other tests on the machine can delay the event loop.
      const troubles = (await status()).verdict.troubles.filter(({ subject }) => subject !== 'event loop');
      expect(troubles[0]?.text ?? '').to.match(text);
      for (const colorScheme of SCHEMES) {
        const { page } = await openPage(browser, url, { colorScheme });
        await page.locator('.band').waitFor();
        await page.evaluate("document.querySelector('h1 span').textContent = 'portico-1'");
        // The rules of axe are checked at the last width: in light on a narrow screen, in dark on a wide one.
        for (const width of colorScheme === 'light' ? WIDTHS.toReversed() : WIDTHS) {
          await expectFits(page, width);
          expect((await page.locator('[role=status]').boundingBox())?.y).to.be.below(120);
          const file = KEPT[`${state}, ${width} ${colorScheme}`];
          if (process.env['RECORD'] === '1' && file !== undefined) await page.screenshot({ path: join(IMAGES, file) });
        }
        await expectAccessible(page, colorScheme);
      }
    });
  }

  it('loads nothing but itself, shows faults, and updates in place', async () => {
    const { url, read } = broken;
    const { page, requested, complaints } = await openPage(browser, url, { hasOwnClock: true });
    await page.locator('.band.red').waitFor();
    expect(await page.title()).to.match(/^Red: projects: breaker open \(/);
    expect(await page.textContent('.band')).to.contain('status 503) for 34 s');
    const upstreams = page.locator('[data-part=upstreams]');
    expect(await upstreams.textContent()).to.contain('upstream_failed, answered with status 503');
    expect(await page.textContent('[data-part=changes]')).to.contain('projects: breaker open');
    const top = await page.evaluate(HEADING_AT);
    const calls = page.locator('[data-part=process] dd').first();
    const before = await calls.textContent();
    await read('workflows');
    await page.clock.fastForward(5000);
    await eventually(async () => (await calls.textContent()) !== before);
    expect(await page.evaluate(HEADING_AT)).to.equal(top);
    expect(new Set(requested)).to.deep.equal(new Set([url, `${url}status`]));
    expect(complaints).to.deep.equal([]);
  });

  it('is paused by its button, also from the keyboard, and shows that Portico does not answer', async () => {
    const { url } = healthy;
    const { page, requested } = await openPage(browser, url, { hasOwnClock: true });
    await page.locator('.band').waitFor();
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    expect(await page.textContent('button')).to.equal('Resume');
    const before = requested.length;
    await page.clock.fastForward(20_000);
    expect(requested).to.have.length(before);
    await page.keyboard.press('Enter');
    await eventually(() => requested.length > before);
    await page.context().setOffline(true);
    await page.clock.fastForward(5000);
    // A reply of before may still arrive: the next request, 5 s later, shows the same again.
    await eventually(async () =>
      [await page.textContent('[role=status]'), await page.title()].every((text) => text?.includes('does not respond')),
    );
  });

  it('refers to the JSON without scripts', async () => {
    const { url } = healthy;
    const { page } = await openPage(browser, url, { javaScriptEnabled: false });
    expect(await page.locator('noscript a').getAttribute('href')).to.equal('status');
  });
});
