import { expect } from 'chai';
import { bracketed, hostsAnsweredFor, isHost, isLoopbackHost } from '../../../src/http/request/hosts.ts';

const v4 = { address: '127.0.0.1', family: 'IPv4', port: 8080 };
const v6 = { address: '::1', family: 'IPv6', port: 8080 };

describe('the hosts that a listener answers for', () => {
  it('are loopback names, with its port or without, on a loopback address', () => {
    const hosts = ['localhost', 'localhost:8080', '127.0.0.1', '127.0.0.1:8080', '[::1]', '[::1]:8080'];
    expect([...(hostsAnsweredFor(undefined, v4) ?? [])]).to.have.members(hosts);
    expect([...(hostsAnsweredFor(undefined, v6) ?? [])]).to.have.members(hosts);
  });

  it('hold the address itself, where that is a loopback address of another name', () => {
    expect(hostsAnsweredFor(undefined, { ...v4, address: '127.8.8.8' })).to.include('127.8.8.8:8080');
    expect(hostsAnsweredFor(undefined, { ...v6, address: '::ffff:127.0.0.1' })).to.include('[::ffff:127.0.0.1]');
  });

  it('are any, on other addresses and on a Unix socket', () => {
    expect(hostsAnsweredFor(undefined, { ...v4, address: '0.0.0.0' })).to.equal(undefined);
    expect(hostsAnsweredFor(undefined, { ...v6, address: '::' })).to.equal(undefined);
    expect(hostsAnsweredFor(undefined, '/run/portico.sock')).to.equal(undefined);
  });

  it('are those of the setting, where there is one', () => {
    expect([...(hostsAnsweredFor(['Portico.Example', 'other:81'], v4) ?? [])]).to.deep.equal([
      'portico.example',
      'other:81',
    ]);
    expect([...(hostsAnsweredFor(['portico.example'], '/run/portico.sock') ?? [])]).to.deep.equal(['portico.example']);
    expect([...(hostsAnsweredFor([], v4) ?? [])]).to.deep.equal([]);
  });
});

describe('a host', () => {
  it('names this machine by a loopback name, with or without a port', () => {
    for (const host of ['localhost', 'LOCALHOST:8080', '127.0.0.1', '127.1.2.3:80', '[::1]:80', 'a.localhost:1'])
      expect(isLoopbackHost(host), host).to.equal(true);
    for (const host of ['localhost.example', '127.example', '127.0.0.1.example', '[::2]', '', 'example:80'])
      expect(isLoopbackHost(host), host).to.equal(false);
  });

  it('is well-formed as a name or an address, with or without a port', () => {
    for (const host of ['a', 'A.b-c', 'a:80', 'a:', '1.2.3.4:5', '[::1]', '[::1]:80', '', 'x%20y'])
      expect(isHost(host), host).to.equal(true);
  });

  it('is not well-formed with anything else in it', () => {
    for (const host of ['a b', 'a/b', 'user@a', 'a:b', '::1', '[::1', 'a,b/', 'é', 'a:1:2'])
      expect(isHost(host), host).to.equal(false);
  });
});

describe('an address', () => {
  it('has brackets in a URL where it is one of IPv6', () => {
    expect(bracketed(v4)).to.equal('127.0.0.1');
    expect(bracketed(v6)).to.equal('[::1]');
  });
});
