import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { parse } from 'yaml';
import { declaredMetrics } from '../../scripts/settings/metric-list.ts';
import { readDoc } from '../support/docs.ts';

interface Alert {
  readonly alert: string;
  readonly expr: string;
  readonly labels: { readonly severity: string };
  readonly annotations: { readonly summary: string; readonly runbook_url: string };
}

const read = (file: string) => readFileSync(new URL(`../../deploy/${file}`, import.meta.url), 'utf8');
const alerts: Alert[] = parse(read('prometheus/alerts.yaml')).groups.flatMap(({ rules }: { rules: Alert[] }) => rules);
const runbook = readDoc('docs/runbook.md');

/** Labels of all series that Portico exports, by their names. */
const LABELS = new Map<string, readonly string[]>(
  declaredMetrics('all').flatMap(({ name, type, labels }) => {
    const own = [...labels, 'job', 'instance', 'le'];
    const names = type === 'histogram' ? ['_bucket', '_sum', '_count'].map((end) => `${name}${end}`) : [name];
    return names.map((each) => [each, own] as const);
  }),
);

/** Names in queries that do not exist: of metrics, and of labels in their selectors. promtool checks the rest. */
function unknownIn(query: string): string[] {
  const series = query.matchAll(
    /\b((?:portico|http_server|http_client|mcp_server|nodejs|process)_\w+)(?:\{([^}]*)\})?/g,
  );
  return [...series].flatMap(([, name = '', matchers = '']) => {
    const known = LABELS.get(name);
    if (known === undefined) return [name];
    const labels = [...matchers.matchAll(/(\w+)\s*(?:=~|!~|!=|=)/g)].map(([, label = '']) => label);
    return labels.filter((label) => !known.includes(label)).map((label) => `${name}{${label}}`);
  });
}

describe('the alert rules', () => {
  for (const { alert, expr, labels, annotations } of alerts) {
    it(`${alert} uses existing metrics of the job portico, and has a section in the runbook`, () => {
      expect(unknownIn(expr)).to.deep.equal([]);
      expect(expr).to.contain('job="portico"');
      expect(labels.severity).to.be.oneOf(['page', 'ticket']);
      expect(annotations.summary).not.to.equal('');
      expect(annotations.runbook_url).to.equal(`docs/runbook.md#${alert.toLowerCase()}`);
      const [, section = ''] = runbook.split(`\n## ${alert}\n`);
      const [body = ''] = section.split('\n## ');
      for (const part of ['**Means:**', '**Look at:**', '**Do:**']) expect(body).to.contain(part);
    });
  }

  it("are those that fire in promtool's test, and those of the runbook", () => {
    const { tests } = parse(read('prometheus/alerts.test.yaml'));
    const fired = tests.flatMap(({ alert_rule_test = [] }) =>
      alert_rule_test.filter(({ exp_alerts }: { exp_alerts: unknown[] }) => exp_alerts.length > 0),
    );
    const names = new Set(alerts.map(({ alert }) => alert));
    expect(new Set(fired.map(({ alertname }: { alertname: string }) => alertname))).to.deep.equal(names);
    expect(new Set([...runbook.matchAll(/^## (\w+)$/gm)].map(([, name = '']) => name))).to.deep.equal(names);
  });
});

describe('the runbook', () => {
  it('uses existing metrics', () => {
    // A name that ends in * stands for several.
    const queries = [...runbook.matchAll(/`([^`*]+)`/g)].map(([, query = '']) => query);
    expect(queries.flatMap(unknownIn)).to.deep.equal([]);
  });
});

describe('the dashboard', () => {
  const dashboard = JSON.parse(read('grafana/dashboard.json'));

  for (const { title, targets = [] } of dashboard.panels) {
    it(`uses existing metrics: ${title}`, () => {
      for (const { expr } of targets) expect(unknownIn(expr), expr).to.deep.equal([]);
    });
  }

  it('uses existing metrics in its variables and annotations', () => {
    const { templating, annotations } = dashboard;
    expect(unknownIn(JSON.stringify([templating.list, annotations.list]).replaceAll('\\"', '"'))).to.deep.equal([]);
  });
});
