import { expect } from 'chai';
import { sizeAsked } from '../../../../src/core/upstream/paging/list-read.ts';
import { type ListAddress, pageAddress } from '../../../../src/core/upstream/paging/page-address.ts';

const LIST: ListAddress = {
  baseUrl: 'https://platform.example',
  path: '/v1/projects',
  query: {},
  pagination: { kind: 'none' },
};

const targetOf = (list: Partial<ListAddress>, parameters: Record<string, string | number> = {}) => {
  const { url } = pageAddress({ ...LIST, ...list }, parameters);
  return url.pathname + url.search;
};

describe('the address of a page', () => {
  it('stays on its origin for any path', () => {
    expect(pageAddress({ ...LIST, path: '//other.example/x' }, {}).url.href).to.equal(
      'https://platform.example//other.example/x',
    );
    expect(targetOf({ path: '/größe' })).to.equal('/gr%C3%B6%C3%9Fe');
  });
});

describe('the page size that settings send with the only page', () => {
  it('is a number under a usual name, in the query or the body', () => {
    const own = { maxItems: 1, maxPages: 1, maxNextBytes: 1 };
    const post = { body: () => JSON.stringify({ filter: {}, page: { size: 7 } }), isRepeatable: true };
    for (const [list, size] of [
      [{ query: { count: 'true', limit: '50' } }, 50],
      [{ query: { q: '50' } }, undefined],
      [{ query: { top: 'all' } }, undefined],
      [{ post }, 7],
    ] as const) {
      expect(sizeAsked({ ...LIST, ...own, ...list })).to.equal(size);
    }
  });
});
