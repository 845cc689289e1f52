import { expect } from 'chai';
import { issues } from './parsed.ts';

describe('the settings of TLS', () => {
  const FILES = { certFile: 'a', keyFile: 'b' };

  it('name certificate and key of a listener, and are not for a Unix socket', () => {
    expect(issues({ http: { tls: FILES }, admin: { tls: FILES } })).to.deep.equal([]);
    expect(issues({ http: { tls: { certFile: 'a' } as typeof FILES } })).to.deep.equal([
      'http.tls.keyFile: is required',
    ]);
    expect(issues({ http: { tls: FILES, socketPath: '/a' } })).to.deep.equal([
      'http.tls: cannot be combined with socketPath: clients of a Unix socket are on this machine',
    ]);
  });

  it('of an upstream go with https, and have a certificate and its key together', () => {
    expect(issues({ api: { tls: { caFile: 'a', ...FILES, serverName: 'api.internal' } } })).to.deep.equal([]);
    expect(issues({ api: { baseUrl: 'http://a.example', tls: {} } })).to.deep.equal([
      'upstreams.api.tls: goes with a baseUrl of https',
    ]);
    expect(issues({ api: { tls: { certFile: 'a' } } })).to.deep.equal([
      'upstreams.api.tls.certFile: needs certFile and keyFile, both of them',
    ]);
    expect(issues({ api: { tls: { keyFile: 'a' } } })).to.deep.equal([
      'upstreams.api.tls.keyFile: needs certFile and keyFile, both of them',
    ]);
    for (const serverName of ['', 'a:443', 'https://a', '-a', 'a b']) {
      expect(issues({ api: { tls: { serverName } } })).to.have.lengthOf(1);
    }
  });

  it('require what makes it safe', () => {
    for (const key of ['rejectUnauthorized', 'insecureSkipVerify', 'verify']) {
      expect(issues({ api: { tls: { [key]: false } } })).to.match(/unknown key/);
    }
    expect(issues({ api: { tls: { minVersion: 'TLSv1.1' } } })).to.have.lengthOf(1);
  });
});
