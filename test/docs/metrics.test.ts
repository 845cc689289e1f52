import { expect } from 'chai';
import { declaredMetrics } from '../../scripts/settings/metric-list.ts';
import { readDoc } from '../support/docs.ts';

const PAGE = readDoc('docs/metrics.md');

const names = new Set(declaredMetrics('all').map(({ name }) => name));

describe('the page of metrics', () => {
  it('describes each label', () => {
    const told = PAGE.slice(PAGE.indexOf('## Labels'), PAGE.indexOf('## What to look at first'));
    const explained = new Set([...told.matchAll(/`(\w+)`/g)].map(([, label]) => label));
    const labels = new Set(declaredMetrics().flatMap((metric) => [...metric.labels]));
    expect([...labels].filter((label) => !explained.has(label))).to.deep.equal([]);
  });

  it('uses existing metrics in its queries', () => {
    const queries = PAGE.slice(PAGE.indexOf('## What to look at first'), PAGE.indexOf('## Notes'));
    const asked = [...queries.matchAll(/\b(?:portico|http|mcp|nodejs|process)_(?:\w+_)\w+/g)].map(([name]) => name);
    const metrics = asked.filter((name) => !/^(http_route|http_request_method|mcp_method_name)$/.test(name));
    expect(metrics.length).to.be.greaterThan(9);
    for (const name of metrics) expect(names).to.include(name.replace(/_(bucket|count|sum)$/, ''));
  });
});
