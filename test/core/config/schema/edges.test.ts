import { expect } from 'chai';
import { issues, parsed } from './parsed.ts';

describe('the settings of a listener', () => {
  it('bind to addresses and host names', () => {
    for (const host of ['127.0.0.1', '0.0.0.0', '::', '::1', 'fe80::1', 'localhost', 'portico.internal']) {
      expect(issues({ http: { host, allowedHosts: ['a'] } })).to.deep.equal([]);
    }
    for (const host of ['', '0.0.0.0:80', '[::1]', 'http://a', 'a b', '-a']) {
      expect(issues({ http: { host } })).to.deep.equal([
        'http.host: must be an IP address or a host name, without port or brackets',
      ]);
    }
  });

  it('need a name where callers are not verified and web pages may reach them, and name the key to set', () => {
    const issue =
      'http.allowedHosts: is required if http.host is not a loopback address and neither publicUrl nor verification is set, because of DNS rebinding: list each Host that clients send, such as http.allowedHosts: ["portico.example.com"]';
    for (const host of ['0.0.0.0', '::', '192.0.2.1', 'fe80::1', 'portico.internal', 'localhost.example']) {
      expect(issues({ http: { host } }), host).to.deep.equal([issue]);
      const verification = { issuer: 'https://login.example', audience: 'a' };
      const named = { http: { host, allowedHosts: ['a', 'b'] } };
      for (const safe of [named, { http: { host }, publicUrl: 'https://a.b' }, { http: { host }, verification }]) {
        expect(issues(safe), host).to.deep.equal([]);
      }
    }
    for (const http of [{}, { host: 'localhost' }, { host: '::1' }, { host: '127.0.0.2' }, { socketPath: '/a' }]) {
      expect(issues({ http })).to.deep.equal([]);
    }
  });

  it('have a path for a unix socket that every system takes', () => {
    expect(issues({ http: { socketPath: `/${'x'.repeat(102)}` } })).to.deep.equal([]);
    expect(issues({ http: { socketPath: `/${'é'.repeat(52)}` } })).to.deep.equal([
      'http.socketPath: must be at most 103 bytes long',
    ]);
    expect(issues({ http: { socketPath: '' } })).to.deep.equal([
      'http.socketPath: Too small: expected string to have >=1 characters',
    ]);
  });

  it('take addresses, networks and unix for trusted proxies', () => {
    const trustedProxies = ['10.0.0.7', '10.0.0.0/8', '0.0.0.0/0', '::1', 'fd00::/8', '2001:db8::/128', 'unix'];
    expect(issues({ http: { trustedProxies } })).to.deep.equal([]);
    const wrong = ['', 'proxy.internal', '10.0.0', '10.0.0.0/33', '10.0.0.0/', '10.0.0.0/8/8', '10.0.0.0/x', '::1/129'];
    for (const proxy of [...wrong, 'fe80::1%eth0', '[::1]', '10.0.0.7:80', '::ffff:10.0.0.7', '/8', 'unix/1']) {
      expect(issues({ http: { trustedProxies: [proxy] } }), proxy).to.have.length(1);
    }
  });

  it('answer for hosts, whatever the port', () => {
    const allowedHosts = ['a', 'portico.example.com', 'a_b', '127.0.0.1', '[::1]'];
    expect(issues({ http: { allowedHosts } })).to.deep.equal([]);
    for (const host of ['', 'a:', 'a:b', 'a/b', 'http://a', '*.a', '::1', 'a,b', 'a:80', 'a:*', 'u@a']) {
      expect(issues({ http: { allowedHosts: [host] } }), host).to.have.length(1);
    }
  });

  it('answer to origins as browsers send them', () => {
    const allowedOrigins = [
      ...['https://app.example.com', 'http://localhost:3000', 'http://[::1]:1', 'tauri://localhost'],
      ...['chrome-extension://abcdefghijklmnopabcdefghijklmnop', 'capacitor://localhost:81'],
    ];
    expect(issues({ http: { allowedOrigins } })).to.deep.equal([]);
    const wrong = ['https://a/b', 'https://a:443', 'https://A', 'a', '*', 'null', 'https://u@a', 'app://', 'App://a'];
    for (const origin of [...wrong, 'app:a', 'app://a b', 'app://u@a', 'tauri://a/']) {
      expect(issues({ http: { allowedOrigins: [origin] } }), origin).to.have.length(1);
    }
  });

  it('give each listener a port of its own', () => {
    const same = ['admin.port: must differ from http.port: each listener needs its own port'];
    expect(issues({ http: { port: 9090 } })).to.deep.equal(same);
    for (const apart of [
      { http: { port: 9090, socketPath: '/a' } },
      { http: { port: 9090 }, admin: { enabled: false } },
      { http: { port: 0 }, admin: { port: 0 } },
    ]) {
      expect(issues(apart), JSON.stringify(apart)).to.deep.equal([]);
    }
  });
});

describe('where clients find this server', () => {
  const issue = (publicUrl: string) => issues({ publicUrl });

  it('is a URL to the letter, by TLS or on this machine', () => {
    for (const publicUrl of [
      ...['https://portico.example', 'https://portico.example:8443', 'https://apps.example/portico', 'https://[::1]:1'],
      ...['http://localhost:8080', 'http://127.0.0.1', 'http://127.1.2.3:8081', 'http://[::1]:8080'],
    ]) {
      expect(issue(publicUrl), publicUrl).to.deep.equal([]);
      expect(parsed({ publicUrl }).publicUrl).to.equal(publicUrl);
    }
    expect(parsed({})).not.to.have.property('publicUrl');
  });

  it('has nothing that clients would send otherwise, or that means something to a shell', () => {
    for (const publicUrl of [
      ...['', 'portico.example', '//portico.example', 'ftp://portico.example', 'https://', 'https:portico.example'],
      ...['https://portico.example/', 'https://portico.example/a/', 'https://portico.example//a', 'HTTPS://a.example'],
      ...['https://Portico.example', 'https://portico.example:443', 'http://localhost:80', 'https://a.example/../b'],
      ...['https://u@a.example', 'https://u:p@a.example', 'https://a.example?b', 'https://a.example#b'],
      'https://a.example?',
      ...['https://a.example/$(id)', "https://a.example/'", 'https://a;b', 'https://a.example:99999', 'https://127.1'],
      ...['https://é.example', 'https://a.example/%61', ' https://a.example', 'https://a.example\n', 'https://-a'],
    ]) {
      expect(issue(publicUrl).join(), JSON.stringify(publicUrl)).to.contain(
        'publicUrl: must be a URL as clients use it',
      );
    }
  });

  it('is of http on no other machine', () => {
    for (const host of ['portico.example', '10.0.0.1:8080', 'localhost.example', 'a.localhost', '128.0.0.1', '[::2]']) {
      expect(issue(`http://${host}`), host).to.deep.equal([
        'publicUrl: must be an https URL: http is for loopback alone',
      ]);
    }
  });
});
