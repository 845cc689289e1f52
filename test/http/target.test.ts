import { expect } from 'chai';
import { parseTarget, queryOf } from '../../src/http/target.ts';
import { GatewayError } from '../../src/kernel/errors.ts';

describe('a request target', () => {
  it('in origin form stays as it is', () => {
    for (const raw of ['/', '/a/../B//c?d=%2F&e', '//host/path', '*'])
      expect(parseTarget(raw)).to.deep.equal({ url: raw });
  });

  it('in absolute form names a host, and is taken apart without being normalized', () => {
    expect(parseTarget('http://Host:80/a/../b?c')).to.deep.equal({ authority: 'Host:80', url: '/a/../b?c' });
    expect(parseTarget('HTTPS://[::1]:1/')).to.deep.equal({ authority: '[::1]:1', url: '/' });
  });

  it('in absolute form may lack a path', () => {
    expect(parseTarget('http://host')).to.deep.equal({ authority: 'host', url: '/' });
    expect(parseTarget('http://host?a=b')).to.deep.equal({ authority: 'host', url: '/?a=b' });
  });

  for (const raw of ['/a#b', '/a?b#c', 'http://host/#', 'ftp://host/', 'http:///path', 'host:80', 'path', '']) {
    it(`is refused as ${JSON.stringify(raw)}`, () => {
      expect(() => parseTarget(raw))
        .to.throw(GatewayError)
        .with.property('code', 'invalid_request');
    });
  }
});

describe('a query', () => {
  it('is what follows the first question mark', () => {
    expect(queryOf('/a?b=c?d')).to.equal('b=c?d');
    expect(queryOf('/a?')).to.equal('');
    expect(queryOf('/a')).to.equal('');
  });
});
