import { spawnSync } from 'node:child_process';
import { expect } from 'chai';
import { settingsFor, startGateway } from '../../support/gateway.ts';
import { lists, startHttpUpstream } from '../../support/platform/http-upstream.ts';
import { manyTools } from '../../support/platform/loads.ts';
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
    // Gauges that prom-client names like counters.
    const theirs =
      /^nodejs_active_(?:handles|requests|resources)_total non-counter metrics should not have "_total" suffix$/;
    const findings = `${stdout}${stderr}`.split('\n').filter((line) => line !== '' && !theirs.test(line));
    expect(findings).to.deep.equal([]);
    expect(status).to.be.oneOf([0, 3]);
  });
});
