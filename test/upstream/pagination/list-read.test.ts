import { expect } from 'chai';
import { firstUrl, type ListRequest, pageUrl } from '../../../src/upstream/pagination/list-read.ts';
import { firstTarget } from '../../../src/upstream/pagination/paginate.ts';

const LIST: ListRequest = {
  baseUrl: 'https://platform.example',
  path: '/v1/projects',
  query: {},
  pagination: { kind: 'none' },
  maxItems: 1,
  maxPages: 1,
  maxNextBytes: 4096,
};

const targetOf = (list: Partial<ListRequest>, parameters: Record<string, string | number> = {}) => {
  const url = pageUrl({ ...LIST, ...list }, parameters);
  return url.pathname + url.search;
};

describe('the URL of a page', () => {
  it('is the path below the prefix of the base URL, whether that ends with a slash or not', () => {
    expect(targetOf({})).to.equal('/v1/projects');
    expect(targetOf({ baseUrl: 'https://platform.example/' })).to.equal('/v1/projects');
    expect(targetOf({ baseUrl: 'https://platform.example/api/x' })).to.equal('/api/x/v1/projects');
    expect(targetOf({ baseUrl: 'https://platform.example/api/x/' })).to.equal('/api/x/v1/projects');
  });

  it('keeps to its origin whatever the path', () => {
    expect(pageUrl({ ...LIST, path: '//other.example/x' }, {}).href).to.equal(
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
    const linked: ListRequest = { ...LIST, query: { a: 'b' }, pagination: { kind: 'link', ...sized } };
    expect(firstUrl(linked).href).to.equal('https://platform.example/v1/projects?a=b&size=7');
    expect(firstUrl(linked)).to.equal(firstUrl(linked));
    expect(firstUrl(LIST).href).to.equal('https://platform.example/v1/projects');
    expect(firstTarget({ ...linked })).to.equal('/v1/projects?a=b&size=7');
  });
});
