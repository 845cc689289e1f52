import { expect } from 'chai';
import { sizeAsked } from '../../../../src/core/upstream/paging/list-read.ts';
import { firstAddress, type ListAddress, pageAddress } from '../../../../src/core/upstream/paging/page-address.ts';
import { firstTarget } from '../../../../src/core/upstream/paging/paginate.ts';

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
  it('is the path below the prefix of the base URL, whether that ends with a slash or not', () => {
    expect(targetOf({})).to.equal('/v1/projects');
    expect(targetOf({ baseUrl: 'https://platform.example/' })).to.equal('/v1/projects');
    expect(targetOf({ baseUrl: 'https://platform.example/api/x' })).to.equal('/api/x/v1/projects');
    expect(targetOf({ baseUrl: 'https://platform.example/api/x/' })).to.equal('/api/x/v1/projects');
  });

  it('stays on its origin for any path', () => {
    expect(pageAddress({ ...LIST, path: '//other.example/x' }, {}).url.href).to.equal(
      'https://platform.example//other.example/x',
    );
    expect(targetOf({ path: '/größe' })).to.equal('/gr%C3%B6%C3%9Fe');
  });

  it('escapes every value, spaces as %20', () => {
    expect(targetOf({ query: { q: 'a b+c&d=e/é' } }, { 't[]': '+/=' })).to.equal(
      '/v1/projects?q=a%20b%2Bc%26d%3De%2F%C3%A9&t%5B%5D=%2B%2F%3D',
    );
  });

  it('is made once for the first page of a list', () => {
    const sized = { sizeParam: 'size', size: 7 };
    const linked: ListAddress = { ...LIST, query: { a: 'b' }, pagination: { kind: 'link', ...sized } };
    expect(firstAddress(linked).url.href).to.equal('https://platform.example/v1/projects?a=b&size=7');
    expect(firstAddress(linked)).to.equal(firstAddress(linked));
    expect(firstAddress(LIST).url.href).to.equal('https://platform.example/v1/projects');
    const target = '/v1/projects?a=b&size=7';
    const own = { maxItems: 1, maxPages: 1, maxNextBytes: 1 };
    expect(firstTarget({ ...linked, ...own })).to.deep.equal({ target, post: undefined });
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
