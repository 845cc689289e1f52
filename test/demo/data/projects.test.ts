import { expect } from 'chai';
import { projects } from '../../../src/demo/data/projects.ts';
import { expectSlugs } from './expect-slugs.ts';

describe('the demo projects', () => {
  it('are a dozen, each with a slug of its own', () => {
    expect(projects).to.have.length.of.at.least(12);
    expectSlugs(projects);
  });

  it('have ISO 8601 times in UTC, changed after they were made', () => {
    for (const { id, createTime, updateTime } of projects) {
      for (const time of [createTime, updateTime]) {
        expect(new Date(time).toISOString(), id).to.equal(time.replace(/Z$/, '.000Z'));
      }
      expect(Date.parse(updateTime), id).to.be.greaterThan(Date.parse(createTime));
    }
  });

  it('belong to one tenant or to both', () => {
    expect(projects.every(({ tenants }) => new Set(tenants).size === tenants.length && tenants.length > 0)).to.equal(
      true,
    );
    expect(projects.filter(({ tenants }) => tenants.length === 2)).to.have.length(1);
  });
});
