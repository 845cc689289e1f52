import { expect } from 'chai';
import { tools } from '../../../src/demo/data/tools.ts';
import { expectSlugs } from './expect-slugs.ts';

describe('the demo tools', () => {
  it('are forty or more, each with a slug and a name of its own', () => {
    expect(tools).to.have.length.of.at.least(40);
    expectSlugs(tools);
    expect(new Set(tools.map((tool) => tool.name)).size).to.equal(tools.length);
  });

  it('have a dotted version, a category and a description', () => {
    for (const { id, version, category, description } of tools) {
      expect(version, id).to.match(/^\d+\.\d+(\.\d+)?$/);
      expect(category, id).to.match(/^[A-Z]+(_[A-Z]+)*$/);
      expect(description, id).to.match(/\.$/);
    }
  });
});
