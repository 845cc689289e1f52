import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { newFolder } from '../support/process/process.ts';
import { needsCommands, runTool } from '../support/tools.ts';

const DEPLOY = fileURLToPath(new URL('../../deploy/', import.meta.url));

describe('promtool', () => {
  before(function () {
    needsCommands(this, ['promtool']);
  });

  it('accepts the alert rules', async () => {
    expect(await runTool('promtool', ['check', 'rules', 'prometheus/alerts.yaml'], DEPLOY)).to.match(
      /SUCCESS: \d+ rules/,
    );
  });

  it('proves that they fire on their faults, and not without one', async () => {
    expect(await runTool('promtool', ['test', 'rules', 'alerts.test.yaml'], join(DEPLOY, 'prometheus'))).to.contain(
      'SUCCESS',
    );
  });

  it('accepts the queries of the dashboard', async () => {
    const { panels } = JSON.parse(readFileSync(join(DEPLOY, 'grafana/dashboard.json'), 'utf8'));
    const rules = panels
      .flatMap(({ targets = [] }: { targets?: { expr: string }[] }) => targets)
      .map(({ expr }: { expr: string }, index: number) => ({
        record: `dashboard:${index}`,
        expr: expr.replaceAll('$__rate_interval', '5m').replaceAll('$job', 'portico'),
      }));
    const folder = await newFolder();
    await writeFile(join(folder, 'rules.json'), JSON.stringify({ groups: [{ name: 'dashboard', rules }] }));
    expect(await runTool('promtool', ['check', 'rules', 'rules.json'], folder)).to.contain(`${rules.length} rules`);
  });
});
