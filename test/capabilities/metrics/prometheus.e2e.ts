import { spawnSync } from 'node:child_process';
import { expect } from 'chai';
import { eventually } from '../../support/eventually.ts';
import { settingsFor, startGateway } from '../../support/gateway.ts';
import { lists, startHttpUpstream } from '../../support/platform/http-upstream.ts';
import { manyTools } from '../../support/platform/loads.ts';
import { inFolder } from '../../support/process/process.ts';
import { startPrometheus } from '../../support/process/prometheus.ts';
import { needsCommands } from '../../support/tools.ts';

async function startRead() {
  const platform = await startHttpUpstream(lists({ tools: manyTools(3) }));
  const running = await startGateway({ ...settingsFor(platform.url), admin: { port: 0 } });
  for (let reads = 0; reads < 4; reads += 1) await running.read('tools');
  return running.gateway.adminUrl ?? '';
}

describe("Debian's Prometheus", () => {
  before(function () {
    needsCommands(this, ['prometheus', 'promtool']);
  });

  it('accepts the metrics (promtool check metrics)', async () => {
    const text = await (await fetch(`${await startRead()}/metrics`)).text();
    const { status, stdout, stderr } = spawnSync('promtool', ['check', 'metrics'], { input: text, encoding: 'utf8' });
    expect(`${stdout}${stderr}`).to.equal('');
    expect(status).to.equal(0);
  });

  it('scrapes them as OpenMetrics, and answers from them', async () => {
    const adminUrl = await startRead();
    await inFolder(async (folder) => {
      const prometheus = await startPrometheus({ folder, adminUrl, everySeconds: 1 });
      const { ask, answerTo } = prometheus;
      await eventually(async () => (await answerTo('up{job="portico"}')) === 1);
      const [target] = (await ask('targets')).activeTargets;
      expect(target).to.include({ health: 'up', lastError: '' });
      expect(await answerTo('portico_reads_total{resource="tools",cache="hit"}')).to.equal(3);
      expect(await answerTo('sum(http_client_request_duration_seconds_count)')).to.equal(1);
      const p99 = 'histogram_quantile(0.99, sum by (le) (http_server_request_duration_seconds_bucket))';
      expect(await answerTo(p99)).to.be.within(0.0001, 10);
      // OpenMetrics calls a counter by its name without _total.
      const metadata = await ask('metadata?metric=portico_reads');
      expect(metadata.portico_reads[0]).to.include({ type: 'counter' });
      expect(prometheus.stderr()).not.to.match(/level=(error|warn)/);
      await prometheus.stop();
    });
  });
});
