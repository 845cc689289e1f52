import { expect } from 'chai';
import { issues, issuesOfApi } from './parsed.ts';

const FILES = { certFile: 'a', keyFile: 'b' };

describe('the settings of TLS', () => {
  it('name certificate and key of a listener, and are not for a Unix socket', () => {
    expect(issues({ http: { tls: FILES }, admin: { tls: FILES } })).to.deep.equal([]);
    expect(issues({ http: { tls: { certFile: 'a' } as never } })).to.deep.equal(['http.tls.keyFile: is required']);
    expect(issues({ http: { tls: FILES, socketPath: '/a' } })).to.deep.equal([
      'http.tls: cannot be combined with socketPath: clients of a Unix socket are on this machine',
    ]);
  });

  it('of an upstream go with https, have a certificate and its key together, and require what makes it safe', () => {
    expect(issuesOfApi({ tls: { caFile: 'a', ...FILES, serverName: 'api.internal' } })).to.deep.equal([]);
    const wrong = issuesOfApi({ baseUrl: 'http://a.example', tls: {} });
    expect(wrong).to.deep.equal(['tls: needs a baseUrl with https']);
    for (const key of ['certFile', 'keyFile']) {
      const both = `tls.${key}: needs both certFile and keyFile`;
      expect(issuesOfApi({ tls: { [key]: 'a' } })).to.deep.equal([both]);
    }
    for (const serverName of ['', 'a:443', 'https://a', '-a', 'a b']) {
      expect(issuesOfApi({ tls: { serverName } })).to.have.lengthOf(1);
    }
    for (const key of ['rejectUnauthorized', 'insecureSkipVerify', 'verify']) {
      expect(issuesOfApi({ tls: { [key]: false } })).to.match(/Unrecognized key/);
    }
    expect(issuesOfApi({ tls: { minVersion: 'TLSv1.1' } })).to.have.lengthOf(1);
  });
});
