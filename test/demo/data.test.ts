import { expect } from 'chai';
import projects from '../../src/demo/data/projects.json' with { type: 'json' };
import tools from '../../src/demo/data/tools.json' with { type: 'json' };
import workflows from '../../src/demo/data/workflows.json' with { type: 'json' };

describe('the demo data', () => {
  for (const [name, items, least] of [
    ['projects', projects, 12],
    ['workflows', workflows, 20],
    ['tools', tools, 40],
  ] as const) {
    it(`has at least ${least} ${name}, each with a unique slug`, () => {
      expect(items).to.have.length.of.at.least(least);
      for (const { id } of items) expect(id).to.match(/^[a-z0-9]+(-[a-z0-9]+)*$/);
      expect(new Set(items.map(({ id }) => id)).size).to.equal(items.length);
    });
  }

  it('has one project that both tenants see', () => {
    expect(projects.filter(({ tenants }) => tenants.length === 2)).to.have.length(1);
  });

  it('has workflows in four states whose tools are installed where they are', () => {
    expect(new Set(workflows.map(({ triggerType }) => triggerType)).size).to.equal(4);
    expect(new Set(workflows.map(({ status }) => status)).size).to.equal(4);
    const installed = new Map(tools.map((tool) => [tool.id, tool.installed]));
    for (const workflow of workflows) {
      for (const id of workflow.toolIds) {
        expect(installed.has(id) && (installed.get(id) || !workflow.installed), `${workflow.id}: ${id}`).to.equal(true);
      }
    }
  });
});
