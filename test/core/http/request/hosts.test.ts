import { expect } from 'chai';
import fc from 'fast-check';
import { createIsOwnHost, isSameOrigin } from '../../../../src/core/http/request/hosts.ts';

type Check = (host: string) => boolean;

/** Expects the same of a check for each of these hosts. */
function expectOf(check: Check, expected: boolean, hosts: readonly string[]): void {
  for (const host of hosts) expect(check(host), host).to.equal(expected);
}

describe("a listener's own hosts", () => {
  it('are addresses, loopback names and listed names, with any port: other names can be made to resolve', () => {
    const isOwn = createIsOwnHost(['Portico.Example']);
    expectOf(isOwn, true, [
      ...['10.0.0.1', '10.0.0.1:80', '[fe80::1]', '[fe80::1]:80', 'localhost', 'LOCALHOST:1', '127.0.0.1:9'],
      ...['localhost:', 'a.localhost', 'portico.example', 'PORTICO.example:8443'],
    ]);
    expectOf(isOwn, false, [
      ...['evil.example', 'evil.example:8080', '10.0.0.1.', '10.0.0.1.example', '10.0.0', '10.0.0.256', '2130706433'],
      ...['', ':80', 'localhost.', 'localhost.example', 'user@127.0.0.1', '127.0.0.1:80:80', '[::1', '[::1%eth0]'],
      ...['::1', 'user@a.localhost', 'http://a.localhost', 'evil.example@a.localhost', '0x7f.1', '010.0.0.1', '[::g]'],
      ...['localhost:a', 'xportico.example', 'x.portico.example', 'portico.example.', 'portico.example:x', '*'],
    ]);
  });
});

describe('an origin', () => {
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
