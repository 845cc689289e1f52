import { expect } from 'chai';
import { BOUNDS } from '../../src/capabilities/metrics/families.ts';
import { declaredMetrics } from '../capabilities/metrics/scraped.ts';
import { readDoc } from '../support/docs.ts';

const PAGE = readDoc('docs/metrics.md');
const ROW = /^\| `(\w+)` \| (counter|gauge|histogram) \| (seconds|bytes|–) \| (.+) \| (.+) \|$/gm;

const families = declaredMetrics();
const names = new Set(declaredMetrics('all').map(({ name }) => name));

function unitOf(name: string): string {
  return /_(seconds|bytes)(?:_total)?$/.exec(name)?.[1] ?? '–';
}

describe('the page of metrics', () => {
  it('has exactly the metrics that exist, with type, unit, labels and meaning', () => {
    const rows = [...PAGE.matchAll(ROW)].map(([, name, type, unit, labels = '', help = '']) => ({
      ...{ name, type, unit, labels: labels === '–' ? [] : labels.replaceAll('`', '').split(', ') },
      help: help.replaceAll('`', ''),
    }));
    expect(rows).to.deep.equal(
      families.map(({ name, type, labels, help }) => ({ name, type, unit: unitOf(name), labels: [...labels], help })),
    );
  });

  it('describes each label', () => {
    const told = PAGE.slice(PAGE.indexOf('## Labels'), PAGE.indexOf('## What to look at first'));
    const explained = new Set([...told.matchAll(/`(\w+)`/g)].map(([, label]) => label));
    const labels = new Set(families.flatMap((family) => [...family.labels]));
    expect([...labels].filter((label) => !explained.has(label))).to.deep.equal([]);
  });

  it('uses existing metrics in its queries', () => {
    const queries = PAGE.slice(PAGE.indexOf('## What to look at first'), PAGE.indexOf('## Notes'));
    const asked = [...queries.matchAll(/\b(?:portico|http|mcp|nodejs|process)_(?:\w+_)\w+/g)].map(([name]) => name);
    const metrics = asked.filter((name) => !/^(http_route|http_request_method|mcp_method_name)$/.test(name));
    expect(metrics.length).to.be.greaterThan(9);
    for (const name of metrics) expect(names).to.include(name.replace(/_(bucket|count|sum)$/, ''));
  });

  it('has the bounds of the histograms', () => {
    const shown = /0\.0001, [\d., ]+\s+and 10 seconds/.exec(PAGE.replaceAll('\n', ' '))?.[0] ?? '';
    expect([...shown.matchAll(/\d+(?:\.\d+)?/g)].map(([bound]) => Number(bound))).to.deep.equal(BOUNDS);
  });
});
