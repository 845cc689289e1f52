import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { parse } from 'yaml';
import { readDoc } from '../support/docs.ts';
import { unknownIn, withoutJob } from './queries.ts';

interface Alert {
  readonly alert: string;
  readonly expr: string;
  readonly labels: { readonly severity: string };
  readonly annotations: { readonly summary: string; readonly runbook_url: string };
}

const read = (file: string) => readFileSync(new URL(`../../deploy/${file}`, import.meta.url), 'utf8');
const alerts: Alert[] = parse(read('prometheus/alerts.yaml')).groups.flatMap(({ rules }: { rules: Alert[] }) => rules);
const runbook = readDoc('docs/runbook.md');

describe('a query of Prometheus', () => {
  it('is rejected with an unknown metric or label', () => {
    expect(unknownIn('up{job="portico"} == 0')).to.deep.equal([]);
    expect(unknownIn('rate(portico_read_total[5m])')).to.deep.equal(['portico_read_total']);
    expect(unknownIn('rate(portico_load_duration_seconds[5m])')).to.deep.equal(['portico_load_duration_seconds']);
    expect(unknownIn('portico_reads_total{caller="me", resource=~"a|b"}')).to.deep.equal([
      'portico_reads_total{caller}',
    ]);
    expect(unknownIn('sum by (upstream) (rate(portico_reads_total[5m]))')).to.deep.equal(['by upstream']);
    expect(unknownIn('sum by (le, resource) (portico_load_duration_seconds_bucket)')).to.deep.equal([]);
  });
});

describe('a selector', () => {
  it('is found where it has no job', () => {
    const query = 'sum by (job) (rate(portico_reads_total{resource="a"}[5m])) / up{job="portico"} > process_open_fds';
    expect(withoutJob(query)).to.deep.equal(['portico_reads_total', 'process_open_fds']);
  });
});

describe('the alert rules', () => {
  for (const { alert, expr, labels, annotations } of alerts) {
    it(`${alert} uses existing metrics of the job portico, and has a section in the runbook`, () => {
      expect(unknownIn(expr)).to.deep.equal([]);
      expect(withoutJob(expr)).to.deep.equal([]);
      expect(labels.severity).to.be.oneOf(['page', 'ticket']);
      expect(annotations.summary).not.to.equal('');
      expect(annotations.runbook_url).to.equal(`docs/runbook.md#${alert.toLowerCase()}`);
      const [, section = ''] = runbook.split(`\n## ${alert}\n`);
      const [body = ''] = section.split('\n## ');
      for (const part of ['**Means:**', '**Look at:**', '**Do:**']) expect(body).to.contain(part);
    });
  }

  it("fire in promtool's test, and not without a fault", () => {
    const { tests } = parse(read('prometheus/alerts.test.yaml'));
    const fired = tests.flatMap(({ alert_rule_test = [] }) =>
      alert_rule_test.filter(({ exp_alerts }: { exp_alerts: unknown[] }) => exp_alerts.length > 0),
    );
    expect(new Set(fired.map(({ alertname }: { alertname: string }) => alertname))).to.deep.equal(
      new Set(alerts.map(({ alert }) => alert)),
    );
  });

  it("are those of the runbook's sections, which link to each other", () => {
    const sections = [...runbook.matchAll(/^## (\w+)$/gm)].map(([, name = '']) => name);
    expect(sections).to.have.members(alerts.map(({ alert }) => alert));
    const anchors = sections.map((name) => name.toLowerCase());
    for (const [, anchor = ''] of runbook.matchAll(/\]\(#(\w+)\)/g)) expect(anchors).to.include(anchor);
  });
});

describe('the runbook', () => {
  it('uses existing metrics', () => {
    const queries = [...runbook.matchAll(/`([^`]+)`/g)]
      .map(([, text = '']) => text)
      .filter((text) => /\b(?:portico|http_server|http_client|mcp_server|nodejs|process)_\w+/.test(text));
    expect(queries.length).to.be.greaterThan(20);
    for (const query of queries) expect(unknownIn(query), query).to.deep.equal([]);
  });
});

describe('the dashboard', () => {
  const dashboard = JSON.parse(read('grafana/dashboard.json'));
  const panels = dashboard.panels.filter(({ type }: { type: string }) => type !== 'row');

  for (const { title, targets } of panels) {
    it(`uses existing metrics: ${title}`, () => {
      expect(targets).not.to.have.length(0);
      for (const { expr } of targets) expect(unknownIn(expr), expr).to.deep.equal([]);
    });
  }

  it('has panels with unique ids that do not overlap', () => {
    const ids = dashboard.panels.map(({ id }: { id: number }) => id);
    expect(new Set(ids).size).to.equal(ids.length);
    const cells = dashboard.panels.flatMap(({ gridPos: { x, y, w, h } }: { gridPos: Record<string, number> }) =>
      Array.from({ length: Number(w) * Number(h) }, (_, cell) => [
        Number(x) + (cell % Number(w)),
        Number(y) + Math.floor(cell / Number(w)),
      ]).map(([column, line]) => `${column} ${line}`),
    );
    expect(new Set(cells).size).to.equal(cells.length);
  });

  it('uses existing metrics in its variables and annotations', () => {
    const queries = [
      ...dashboard.templating.list.flatMap(({ definition }: { definition?: string }) => definition ?? []),
      ...dashboard.annotations.list.map(({ expr }: { expr: string }) => expr),
    ];
    expect(queries).to.have.length(2);
    for (const query of queries) expect(unknownIn(query), query).to.deep.equal([]);
  });
});
