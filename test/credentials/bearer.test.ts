import { expect } from 'chai';
import fc from 'fast-check';
import { readBearer } from '../../src/credentials/bearer.ts';
import { type ErrorCode, GatewayError } from '../../src/kernel/errors.ts';

function refusal(authorization: readonly string[]): ErrorCode | undefined {
  try {
    readBearer(authorization);
    return undefined;
  } catch (error) {
    if (error instanceof GatewayError) return error.code;
    throw error;
  }
}

describe('a bearer credential', () => {
  it('is the token after the scheme, whose case does not matter', () => {
    for (const value of ['Bearer abc', 'bearer abc', 'BEARER abc', 'Bearer    abc']) {
      expect(readBearer([value]).reveal()).to.equal('abc');
    }
  });

  it('may be any b64token', () => {
    const character = fc.constantFrom(...'ABCXYZabcxyz0189-._~+/');
    fc.assert(
      fc.property(fc.string({ unit: character, minLength: 1 }), fc.nat(3), (text, padding) => {
        const token = text + '='.repeat(padding);
        return readBearer([`Bearer ${token}`]).reveal() === token;
      }),
    );
  });

  it('is missing where there is no Authorization', () => {
    expect(refusal([])).to.equal('credential_missing');
  });

  for (const value of [
    '',
    'Bearer',
    'Bearer ',
    'abc',
    'Basic YTpi',
    'Bearer a b',
    'Bearer a,b',
    'Bearer a=b',
    'Bearer =',
    'Bearer "a"',
    'Bearer\tabc',
    'Bearerabc',
    'Bearer é',
    ' Bearer abc',
    'Bearer abc ',
    'Bearer a\n',
  ]) {
    it(`is malformed in ${JSON.stringify(value)}`, () => {
      expect(refusal([value])).to.equal('credential_malformed');
    });
  }

  it('is in doubt where there are several, even equal ones', () => {
    expect(refusal(['Bearer abc', 'Bearer abc'])).to.equal('invalid_request');
    expect(refusal(['', 'Bearer abc'])).to.equal('invalid_request');
  });

  it('is refused without being repeated', () => {
    for (const authorization of [['Basic c2VjcmV0'], ['Bearer c2VjcmV0', 'Bearer c2VjcmV0']]) {
      try {
        readBearer(authorization);
        expect.fail('was taken');
      } catch (error) {
        const { message, stack, detail, reason } = error as GatewayError;
        expect([message, stack, detail, reason].join()).not.to.contain('c2VjcmV0');
      }
    }
  });
});
