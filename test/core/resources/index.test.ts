import { expect } from 'chai';
import { RESOURCES } from '../../../src/core/resources/index.ts';
import { define, requiredFields } from '../../../src/core/resources/resource.ts';

describe('the three resources', () => {
  it('are in the order projects, workflows, tools', () => {
    expect(RESOURCES.map((resource) => resource.name)).to.deep.equal(['projects', 'workflows', 'tools']);
  });

  it('have exactly the documented fields', () => {
    const fields = RESOURCES.map((resource) => Object.keys(resource.shape.shape));
    expect(fields).to.deep.equal([
      ['id', 'name', 'description', 'createTime'],
      ['id', 'name', 'description', 'triggerType', 'status'],
      ['id', 'name', 'version', 'category', 'description'],
    ]);
  });

  it('have no item without id and name', () => {
    for (const resource of RESOURCES) expect(requiredFields(resource)).to.deep.equal(['id', 'name']);
  });

  it('are defined under the scheme of the deployment', () => {
    expect(define(RESOURCES[0], 'acme')).to.deep.equal({
      uri: 'acme://projects',
      name: 'Projects',
      description: 'All projects accessible to the caller.',
      mimeType: 'application/json',
    });
  });

  it('are stored, but for projects: what a caller may see of them changes', () => {
    expect(RESOURCES.filter(({ stored }) => stored).map(({ name }) => name)).to.deep.equal(['workflows', 'tools']);
  });
});
