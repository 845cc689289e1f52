import { expect } from 'chai';
import { firstAddress, type ListAddress, pageAddress } from '../../../../src/core/upstream/pagination/page-address.ts';
import { firstTarget } from '../../../../src/core/upstream/pagination/paginate.ts';

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

  it('has the query of the settings in order, then the parameters; these replace what has their name', () => {
    const query = { z: '1', a: '2', page: '9' };
    expect(targetOf({ query }, { page: 3, size: 10 })).to.equal('/v1/projects?z=1&a=2&page=3&size=10');
  });

  it('has a parameter once for each element of a list, and one in its place where pagination sends it', () => {
    const query = { state: ['open', 'a b'], a: '1' };
    expect(targetOf({ query }, { page: 3 })).to.equal('/v1/projects?state=open&state=a%20b&a=1&page=3');
    expect(targetOf({ query }, { state: 'x' })).to.equal('/v1/projects?state=x&a=1');
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

  it('has parameters in its body where they point there, and the others in its query', () => {
    const post = { body: (places: object) => JSON.stringify(places), isRepeatable: true };
    const { url, post: posted } = pageAddress(
      { ...LIST, query: { a: '1' }, post },
      { '/size': 5, page: 2, '/x/~1': 'y' },
    );
    expect(url.search).to.equal('?a=1&page=2');
    expect(posted).to.deep.equal({ body: '{"/size":5,"/x/~1":"y"}', isRepeatable: true });
  });

  it('is sent by POST without a body if there is none, and by GET by default', () => {
    const post = { body: undefined, isRepeatable: false };
    expect(pageAddress({ ...LIST, post }, { size: 5 })).to.deep.include({ post });
    expect(pageAddress(LIST, { size: 5 }).post).to.equal(undefined);
  });
});
