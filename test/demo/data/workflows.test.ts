import { expect } from 'chai';
import { tools } from '../../../src/demo/data/tools.ts';
import { workflows } from '../../../src/demo/data/workflows.ts';
import { expectSlugs } from './expect-slugs.ts';

describe('the demo workflows', () => {
  it('are twenty, each with a slug of its own', () => {
    expect(workflows).to.have.length.of.at.least(20);
    expectSlugs(workflows);
  });

  it('start in different ways and are in different states', () => {
    expect(new Set(workflows.map((workflow) => workflow.triggerType)).size).to.equal(4);
    expect(new Set(workflows.map((workflow) => workflow.status)).size).to.equal(4);
  });

  it('run tools of the registry, installed where the workflow is', () => {
    const installed = new Map(tools.map((tool) => [tool.id, tool.installed]));
    for (const workflow of workflows) {
      for (const id of workflow.toolIds) {
        expect(installed.has(id), `${workflow.id} runs ${id}`).to.equal(true);
        if (workflow.installed) expect(installed.get(id), `${workflow.id} runs ${id}`).to.equal(true);
      }
    }
  });
});
