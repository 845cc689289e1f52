import { expect } from 'chai';
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
