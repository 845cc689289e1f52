import { expect } from 'chai';
import fc from 'fast-check';
import { bracketed, hostsOf, isHost, isLoopbackHost, isSameOrigin } from '../../../../src/core/http/request/hosts.ts';

const v4 = { address: '127.0.0.1', family: 'IPv4', port: 8080 };
const v6 = { address: '::1', family: 'IPv6', port: 8080 };

const DUAL = { ...v6, address: '::' };
const ANY = { ...v4, address: '0.0.0.0' };

type Check = (host: string) => boolean;

/** Expects the same of each check for each of these hosts. */
function expectOf(checks: readonly Check[], expected: boolean, hosts: readonly string[]): void {
  for (const host of hosts) for (const check of checks) expect(check(host), `${check.name} ${host}`).to.equal(expected);
}

describe('the hosts that a listener answers for', () => {
  it('are loopback names with any port on a loopback address, and are its own', () => {
    for (const address of [v4, v6]) {
      const { answersFor, isOwn } = hostsOf({}, address);
      const names = ['localhost', 'LocalHost', '127.0.0.1', '[::1]'];
      const ports = ['', ':', ':8080', ':1', ':65535'];
      expectOf(
        [answersFor, isOwn],
        true,
        names.flatMap((name) => ports.map((port) => name + port)),
      );
      expectOf([answersFor, isOwn], false, [
        ...['evil.example', 'evil.example:8080', 'localhost.', 'localhost.example', 'a.localhost', '127.0.0.2', ''],
        ...['localhost:a', 'localhost:1:1', '[::1', '[::1]x'],
      ]);
    }
  });

  it('include another loopback address that the listener is bound to', () => {
    expect(hostsOf({}, { ...v4, address: '127.8.8.8' }).answersFor('127.8.8.8:9')).to.equal(true);
    expect(hostsOf({}, { ...v6, address: '::ffff:127.0.0.1' }).answersFor('[::ffff:127.0.0.1]')).to.equal(true);
  });

  it('are any on a Unix socket, and with acceptsAnyHost; addresses and loopback names are its own', () => {
    for (const [address, acceptsAnyHost] of [
      [ANY, true],
      [DUAL, true],
      ['/run/portico.sock', false],
      [null, false],
    ] as const) {
      const { answersFor, isOwn } = hostsOf({ acceptsAnyHost }, address);
      expectOf([answersFor], true, ['evil.example', 'evil.example:8080', '10.0.0.1', 'localhost:1', '']);
      expectOf([answersFor], false, ['a b', 'user@localhost', '[::1']);
      expectOf([isOwn], true, ['10.0.0.1', '10.0.0.1:80', '[fe80::1]', '[fe80::1]:80', 'localhost:1', 'a.localhost']);
      expectOf([isOwn], false, ['evil.example', '10.0.0.1.example', '10.0.0', '10.0.0.256', '[::g]', '0x7f.1', '']);
    }
  });

  it('are addresses and loopback names alone, on any other address where no name is given: names can be made to resolve', () => {
    for (const address of [ANY, DUAL, { ...v4, address: '192.0.2.1' }]) {
      const { answersFor } = hostsOf({}, address);
      expectOf([answersFor], true, [
        ...['10.0.0.1', '10.0.0.1:80', '[fe80::1]', '[fe80::1]:80', 'localhost', 'LOCALHOST:1', '127.0.0.1:9'],
      ]);
      expectOf([answersFor], false, [
        ...['evil.example', 'evil.example:8080', '10.0.0.1.', '10.0.0.1.example', '2130706433', '0x7f.1', '010.0.0.1'],
        ...['', 'localhost.', 'user@127.0.0.1', '127.0.0.1:80:80', '[::1', '[::1%eth0]', '::1'],
        ...['user@a.localhost', 'http://a.localhost', 'evil.example@a.localhost'],
      ]);
    }
  });

  it('are a name with any port, where the setting says so', () => {
    const { answersFor } = hostsOf({ allowedHosts: ['Portico:*', '[::1]:*'] }, v4);
    expectOf([answersFor], true, ['portico', 'PORTICO:1', 'portico:65535', '[::1]:9', '[::1]']);
    expectOf([answersFor], false, ['xportico:1', 'portico.:1', 'portico:1:1', 'portico:x', '*', ':*', 'other']);
  });

  it('are those of allowedHosts, if set, and are its own', () => {
    for (const address of [v4, ANY, '/run/portico.sock']) {
      const { answersFor, isOwn } = hostsOf({ allowedHosts: ['Portico.Example', 'other:81'] }, address);
      expectOf([answersFor, isOwn], true, ['portico.example', 'PORTICO.example', 'other:81']);
      expectOf([answersFor, isOwn], false, ['portico.example:80', 'other', 'localhost', '10.0.0.1']);
    }
    expect(hostsOf({ allowedHosts: [] }, v4).answersFor('localhost')).to.equal(false);
  });

  it('include alsoHosts', () => {
    for (const [allowed, address] of [
      [undefined, v4],
      [undefined, ANY],
      [['other'], v4],
    ] as const) {
      const { answersFor, isOwn } = hostsOf({ allowedHosts: allowed, alsoHosts: ['portico.example:8443'] }, address);
      expectOf([answersFor, isOwn], true, ['portico.example:8443', 'Portico.Example:8443']);
      expectOf([isOwn], false, ['portico.example', 'portico.example:84433', 'x.portico.example:8443']);
    }
    const { answersFor } = hostsOf({ alsoHosts: ['portico.example'] }, v4);
    expect([answersFor('localhost'), answersFor('evil.example')]).to.deep.equal([true, false]);
  });
});

describe('a host', () => {
  it('may be a loopback name, with or without a port', () => {
    expectOf([isLoopbackHost], true, [
      ...['localhost', 'LOCALHOST:8080', '127.0.0.1', '127.1.2.3:80', '[::1]:80', 'a.localhost:1'],
    ]);
    expectOf([isLoopbackHost], false, [
      ...['localhost.example', '127.example', '127.0.0.1.example', '[::2]', '', 'example:80'],
    ]);
  });

  it('is well-formed as a name or an address, with or without a port, and not with other characters', () => {
    expectOf([isHost], true, ['a', 'A.b-c', 'a:80', 'a:', '1.2.3.4:5', '[::1]', '[::1]:80', '', 'x%20y']);
    expectOf([isHost], false, ['a b', 'a/b', 'user@a', 'a:b', '::1', '[::1', 'a,b/', 'é', 'a:1:2']);
  });
});

describe('an address', () => {
  it('has brackets in a URL if it is IPv6', () => {
    expect([bracketed(v4), bracketed(v6)]).to.deep.equal(['127.0.0.1', '[::1]']);
  });
});

describe('an origin', () => {
  it('is that of a host, where name and port are the same, over http or https', () => {
    for (const [origin, host] of [
      ['http://localhost:8080', 'localhost:8080'],
      ['http://localhost', 'LOCALHOST'],
      ['http://localhost', 'localhost:80'],
      ['https://portico.example', 'Portico.Example'],
      ['https://portico.example', 'portico.example:443'],
      ['https://portico.example:8443', 'portico.example:8443'],
      ['http://[::1]:1', '[::1]:1'],
    ] as const) {
      expect(isSameOrigin(origin, host), `${origin} ${host}`).to.equal(true);
    }
  });

  it('is not that of another name or port, nor is any other text', () => {
    for (const [origin, host] of [
      ...['http://localhost:3000', 'http://localhost', 'http://a.localhost:8080', 'null', '', '*', 'localhost:8080'],
      ...['ftp://localhost:8080', 'http://localhost:8080/', 'http://localhost:8080/x', 'http://u@localhost:8080'],
      ...['HTTP://localhost:8080', 'http://localhost:8080, http://localhost:8080', 'http://localhost:8080 '],
      'blob:http://localhost:8080/a',
    ].map((one) => [one, 'localhost:8080'] as const)) {
      expect(isSameOrigin(origin, host), origin).to.equal(false);
    }
    expect(isSameOrigin('https://portico.example', 'portico.example:80')).to.equal(false);
    expect(isSameOrigin('http://portico.example', '')).to.equal(false);
    expect(isSameOrigin('http://portico.example', 'portico.example:99999')).to.equal(false);
  });

  it('is that of a host exactly where browsers agree', () => {
    const name = fc.stringMatching(/^[a-z]{1,3}(?:\.[a-z]{1,3})?$/);
    const port = fc.option(fc.integer({ min: 1, max: 65_535 }), { nil: undefined });
    fc.assert(
      fc.property(name, port, name, port, fc.constantFrom('http', 'https'), (a, aPort, b, bPort, scheme) => {
        const usual = scheme === 'http' ? 80 : 443;
        const origin = new URL(`${scheme}://${a}${aPort === undefined ? '' : `:${aPort}`}`).origin;
        const same = a === b && (aPort ?? usual) === (bPort ?? usual);
        expect(isSameOrigin(origin, `${b}${bPort === undefined ? '' : `:${bPort}`}`)).to.equal(same);
        expect(isSameOrigin(origin, new URL(origin).host)).to.equal(true);
      }),
    );
  });
});
