import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import type { Status } from '../../src/capabilities/status/gateway-status.ts';
import { anchorsOf, readDoc } from '../support/docs.ts';
import { eventually } from '../support/eventually.ts';
import { inFolder, type PorticoProcess, runPortico } from '../support/process/process.ts';
import { startPrometheus } from '../support/process/prometheus.ts';
import { needsCommands } from '../support/tools.ts';

const RULES = fileURLToPath(new URL('../../deploy/prometheus/alerts.yaml', import.meta.url));
const PATIENCE_MS = 60_000;

interface Alert {
  readonly state: string;
  readonly labels: Readonly<Record<string, string>>;
}

// The walk in docs/runbook.md.
describe('a fault in the demo', function () {
  this.timeout(3 * PATIENCE_MS);
  let portico: PorticoProcess;
  let url: string;
  let adminUrl: string;

  /** One of the lines that the demo prints for another terminal; `end` is the end of its URL. */
  const printed = (end: RegExp) => new RegExp(`http://\\S+${end.source}`).exec(portico.stdout())?.[0] ?? '';
  const readAll = async () => {
    for (const name of ['projects', 'workflows', 'tools']) {
      const headers = { authorization: 'Bearer demo-alice' };
      await (await fetch(`${url}/mcp/v1/resources/read?uri=platform://${name}`, { headers })).arrayBuffer();
    }
  };
  const status = async (): Promise<Status> => (await (await fetch(`${adminUrl}/status`)).json()) as Status;

  before(async function () {
    needsCommands(this, ['prometheus']);
    portico = runPortico(['--demo'], { PORT: '0', ADMIN_PORT: '0' });
    url = await portico.ready;
    adminUrl = /"adminUrl":"([^"]+)"/.exec(portico.stdout())?.[1] ?? '';
    await eventually(() => portico.stdout().includes('Ctrl+C'));
  });

  after(async () => {
    if (portico !== undefined) expect((await portico.stop()).code).to.equal(0);
  });

  it('is shown by the status page, and by an alert that links to its section of the runbook', async () => {
    await inFolder(async (folder) => {
      // `promtool test rules` proves how long alerts wait (prometheus.e2e.ts).
      const rules = join(folder, 'alerts.yaml');
      await writeFile(rules, (await readFile(RULES, 'utf8')).replaceAll(/\bfor: \S+/g, 'for: 1s'));
      const prometheus = await startPrometheus({ folder, adminUrl, rules: [rules], everySeconds: 1 });
      await readAll();
      await eventually(async () => (await prometheus.answerTo('up{job="portico"}')) === 1);

      await fetch(printed(/\/demo\/fault\?kind=unavailable/), { method: 'PUT' });
      const named = await eventually(async () => {
        await readAll();
        const { upstreams } = await status();
        return upstreams.find(({ breaker }) => breaker === 'open');
      });
      expect(named).to.include({ name: 'projects' });
      expect(named.lastFailure).to.deep.include({ code: 'upstream_failed', reason: 'answered with status 503' });

      const alert = await eventually(async () => {
        await readAll();
        const { alerts = [] } = (await prometheus.ask('alerts')) ?? {};
        // Others may fire before it: `PorticoAbsent` until the first scrape, `PorticoReadsFailing` until the breaker opens.
        return alerts.find(
          ({ state, labels }: Alert) => state === 'firing' && labels['alertname'] === 'PorticoBreakerOpen',
        );
      }, PATIENCE_MS);
      expect(alert.labels).to.deep.equal({ alertname: 'PorticoBreakerOpen', severity: 'page', upstream: 'projects' });
      const [page = '', anchor = ''] = alert.annotations.runbook_url.split('#');
      expect(anchorsOf(readDoc(page))).to.include(anchor);
      expect(prometheus.stderr()).not.to.match(/level=(error|warn)/);
      await prometheus.stop();
    });
  });

  it('ends when it is switched off, as one change', async () => {
    await fetch(printed(/\/demo\/fault\?kind=unavailable/).replace(/\?.*/, ''), { method: 'DELETE' });
    await eventually(async () => {
      await readAll();
      return (await status()).upstreams.every(({ breaker }) => breaker === 'closed');
    });
    const changes = (await status()).changes.map(({ event, isTrouble }) => [event, isTrouble]);
    expect(changes).to.deep.equal([
      ['breakerChanged', false],
      ['breakerChanged', true],
      ['listening', false],
    ]);
  });
});
