import { createHash } from 'node:crypto';
import { expect } from 'chai';
import fc from 'fast-check';
import { type Authenticate, createAuthenticate } from '../../src/credentials/authenticate.ts';
import { Credential } from '../../src/kernel/caller.ts';
import type { ErrorCode } from '../../src/kernel/error-table.ts';
import { GatewayError } from '../../src/kernel/errors.ts';

const authenticate = withValues(createAuthenticate());

/** Takes field values as texts. */
function withValues(authenticate: Authenticate) {
  return (values: readonly string[]) => authenticate(values.map((value) => new Credential(value)));
}

/** What is known of the caller with this token. */
const identify = (token: string) => authenticate([`Bearer ${token}`]);

async function codeOf(authorization: readonly string[]): Promise<ErrorCode | undefined> {
  try {
    await authenticate(authorization);
    return undefined;
  } catch (error) {
    if (error instanceof GatewayError) return error.code;
    throw error;
  }
}

describe('a bearer credential', () => {
  it('is the token after the scheme, whose case does not matter', async () => {
    for (const value of ['Bearer abc', 'bearer abc', 'BEARER abc', 'Bearer    abc']) {
      expect((await authenticate([value])).credential.reveal()).to.equal('abc');
    }
  });

  it('may be any b64token', async () => {
    const character = fc.constantFrom(...'ABCXYZabcxyz0189-._~+/');
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: character, minLength: 1 }), fc.nat(3), async (text, padding) => {
        const token = text + '='.repeat(padding);
        return (await identify(token)).credential.reveal() === token;
      }),
    );
  });

  it('is missing where there is no Authorization', async () => {
    expect(await codeOf([])).to.equal('credential_missing');
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
    it(`is malformed in ${JSON.stringify(value)}`, async () => {
      expect(await codeOf([value])).to.equal('credential_malformed');
    });
  }

  it('is in doubt where there are several, even equal ones', async () => {
    expect(await codeOf(['Bearer abc', 'Bearer abc'])).to.equal('invalid_request');
    expect(await codeOf(['', 'Bearer abc'])).to.equal('invalid_request');
  });

  it('is not repeated by what is said of it', async () => {
    for (const authorization of [['Basic c2VjcmV0'], ['Bearer c2VjcmV0', 'Bearer c2VjcmV0']]) {
      try {
        await authenticate(authorization);
        expect.fail('was taken');
      } catch (error) {
        const { message, stack, detail, reason } = error as GatewayError;
        expect([message, stack, detail, reason].join()).not.to.contain('c2VjcmV0');
      }
    }
  });
});

describe('the key of a caller', () => {
  it('is the same for the same token, and another for another one', async () => {
    expect((await identify('one')).key).to.equal((await identify('one')).key);
    expect((await identify('one')).key).not.to.equal((await identify('two')).key);
  });

  it('has 256 bits, as base64url, and names the snapshots too', async () => {
    const { key, partition } = await identify('one');
    expect(key).to.match(/^[\w-]{43}$/);
    expect(partition).to.equal(key);
  });

  it('tells nothing about the token to who does not have the secret of the process', async () => {
    const { key } = await identify('one');
    expect(key).not.to.equal((await withValues(createAuthenticate())(['Bearer one'])).key);
    expect(key).not.to.equal(createHash('sha256').update('one').digest('base64url'));
  });
});

const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
const jwt = (claims: unknown) => `${part({ alg: 'RS256' })}.${part(claims)}.c2lnbmF0dXJl`;
const expiryOf = async (token: string) => (await identify(token)).expiresAt;

describe('the end of a token', () => {
  it("is a JWT's exp, in milliseconds", async () => {
    expect(await expiryOf(jwt({ sub: 'alice', exp: 1_800_000_000 }))).to.equal(1_800_000_000_000);
    expect(await expiryOf(jwt({ exp: 1.5 }))).to.equal(1500);
    expect(await expiryOf(jwt({ name: 'Größe — 😀', act: { exp: 1 }, exp: 2 }))).to.equal(2000);
  });

  for (const claims of [{}, { exp: '1800000000' }, { exp: null }, [], 'text', 5, null]) {
    it(`is not known from claims that name none: ${JSON.stringify(claims)}`, async () => {
      expect(await expiryOf(jwt(claims))).to.equal(undefined);
    });
  }

  it('is not known of any other token', async () => {
    for (const token of [
      'opaque',
      'a.b.c',
      'a.b',
      `${jwt({ exp: 1 })}.d`,
      `${jwt({ exp: 1 })}.d.e`,
      `${part({ exp: 1 })}`,
      '..',
    ]) {
      expect(await expiryOf(token), token).to.equal(undefined);
    }
    await fc.assert(
      fc.asyncProperty(fc.base64String({ minLength: 1 }), async (token) => (await expiryOf(token)) === undefined),
    );
  });

  it('has come where the claims are too long to be read', async () => {
    expect(await expiryOf(jwt({ exp: 9e9, filler: 'x'.repeat(20_000) }))).to.equal(0);
  });
});
