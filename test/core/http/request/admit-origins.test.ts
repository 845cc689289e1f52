import { expect } from 'chai';
import fc from 'fast-check';
import { isSameOrigin } from '../../../../src/core/http/request/admit.ts';

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
