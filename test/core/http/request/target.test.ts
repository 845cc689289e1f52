import { expect } from 'chai';
import { parseTarget } from '../../../../src/core/http/request/target.ts';

describe('a request target', () => {
  it('in origin form stays as it is', () => {
    for (const [raw, path, query] of [
      ['/', '/', ''],
      ['/a/../B//c?d=%2F&e', '/a/../B//c', 'd=%2F&e'],
      ['//host/path', '//host/path', ''],
      ['*', '*', ''],
      ['/a?b=c?d', '/a', 'b=c?d'],
      ['/a?', '/a', ''],
    ]) {
      expect(parseTarget(raw ?? '')).to.deep.equal({ path, query, authority: undefined });
    }
  });

  it('in absolute form names a host, and is taken apart without being normalized', () => {
    expect(parseTarget('http://Host:80/a/../b?c')).to.deep.equal({ authority: 'Host:80', path: '/a/../b', query: 'c' });
    expect(parseTarget('HTTPS://[::1]:1/')).to.deep.equal({ authority: '[::1]:1', path: '/', query: '' });
  });

  it('in absolute form may lack a path', () => {
    expect(parseTarget('http://host')).to.deep.equal({ authority: 'host', path: '/', query: '' });
    expect(parseTarget('http://host?a=b')).to.deep.equal({ authority: 'host', path: '/', query: 'a=b' });
  });

  for (const raw of ['/a#b', '/a?b#c', 'http://host/#', 'ftp://host/', 'http:///path', 'host:80', 'path', '']) {
    it(`is none that is answered as ${JSON.stringify(raw)}`, () => {
      expect(parseTarget(raw)).to.equal(undefined);
    });
  }
});
