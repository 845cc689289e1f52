import { expect } from 'chai';
import fc from 'fast-check';
import { expiryOf } from '../../src/credentials/expiry.ts';
import { Credential } from '../../src/kernel/caller.ts';

const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
const jwt = (claims: unknown) => new Credential(`${part({ alg: 'RS256' })}.${part(claims)}.c2lnbmF0dXJl`);

describe('the end of a token', () => {
  it("is a JWT's exp, in milliseconds", () => {
    expect(expiryOf(jwt({ sub: 'alice', exp: 1_800_000_000 }))).to.equal(1_800_000_000_000);
    expect(expiryOf(jwt({ exp: 1.5 }))).to.equal(1500);
  });

  for (const claims of [{}, { exp: '1800000000' }, { exp: null }, [], 'text', 5, null]) {
    it(`is not known from claims that name none: ${JSON.stringify(claims)}`, () => {
      expect(expiryOf(jwt(claims))).to.equal(undefined);
    });
  }

  it('is not known of any other token', () => {
    for (const token of ['opaque', 'a.b.c', 'a.b', 'a.b.c.d.e', `${part({ exp: 1 })}`, '..']) {
      expect(expiryOf(new Credential(token)), token).to.equal(undefined);
    }
    fc.assert(fc.property(fc.base64String(), (token) => expiryOf(new Credential(token)) === undefined));
  });

  it('has come where the claims are too long to be read', () => {
    expect(expiryOf(jwt({ exp: 9e9, filler: 'x'.repeat(20_000) }))).to.equal(0);
  });
});
