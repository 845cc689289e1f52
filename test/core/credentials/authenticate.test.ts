import { createHash } from 'node:crypto';
import { expect } from 'chai';
import fc from 'fast-check';
import { type Authenticate, createAuthenticate } from '../../../src/core/credentials/authenticate.ts';
import { Credential } from '../../../src/core/kernel/caller.ts';
import { errorOf } from '../upstream/harness.ts';

const authenticate = withValues(createAuthenticate());

/** Takes field values as texts. */
function withValues(authenticate: Authenticate) {
  return (values: readonly string[]) => authenticate(values.map((value) => new Credential(value)));
}

/** What is known of the caller with this token. */
const identify = (token: string) => authenticate([`Bearer ${token}`]);

const refusalOf = (authorization: readonly string[]) => errorOf(authenticate(authorization));

describe('a bearer credential', () => {
  it('is the token after the scheme, whose case does not matter', async () => {
    for (const value of ['Bearer abc', 'bearer abc', 'BEARER abc', 'Bearer    abc']) {
      expect((await authenticate([value])).credential.reveal()).to.equal('abc');
    }
  });

  for (const token of [
    ...['user:abc', '*:*.abc', 'r:abc', 'a,b', 'a=b', '=', '"a"', '{token}', '$&', '%20', 'Bearer', '$aact_b', '<a'],
    'your-a',
  ]) {
    it(`may be ${token}`, async () => {
      expect((await identify(token)).credential.reveal()).to.equal(token);
    });
  }

  for (const [values, code] of [
    [[], 'credential_missing'],
    [['Bearer abc', 'Bearer abc'], 'invalid_request'],
    [['', 'Bearer abc'], 'invalid_request'],
  ] as const) {
    it(`is ${code} where the headers are ${JSON.stringify(values)}`, async () => {
      expect((await refusalOf(values)).code).to.equal(code);
    });
  }

  const refused: Readonly<Record<string, string>> = {
    '': 'must begin with Bearer',
    'Basic YTpi': 'must begin with Bearer',
    'Bearer\tabc': 'must begin with Bearer',
    Bearerabc: 'must begin with Bearer',
    Bearer: 'it is empty',
    'Bearer ': 'it is empty',
    'Bearer a b': 'it contains white space',
    'Bearer a,\tb': 'it contains white space',
    'Bearer a\n': 'it contains white space',
    'Bearer a\x00': 'it contains a control character',
    'Bearer a\x1b[2J b': 'it contains a control character',
    'Bearer a\x7f': 'it contains a control character',
    'Bearer ${TOKEN}': 'it is a placeholder',
    'Bearer $PORTICO_TOKEN': 'it is a placeholder',
    'Bearer <access token>': 'it is a placeholder',
    'Bearer {{ token }}': 'it is a placeholder',
    'Bearer {env:TOKEN}': 'it is a placeholder',
    'Bearer YOUR_TOKEN': 'it is a placeholder',
    'Bearer your-api-key-here': 'it is a placeholder',
    'Bearer \xe9': 'it contains a character outside ASCII',
    'Bearer a\x85b': 'it contains a character outside ASCII',
  };
  for (const [value, reason] of Object.entries(refused)) {
    it(`is malformed in ${JSON.stringify(value)}, since ${reason}`, async () => {
      const { code, detail } = await refusalOf([value]);
      expect(code).to.equal('credential_malformed');
      expect(detail).to.contain(reason);
    });
  }

  it('is not repeated in its error', async () => {
    for (const value of [
      ...['Basic c2VjcmV0', 'Bearer c2VjcmV0 c2VjcmV0', 'Bearer c2VjcmV0\x01', 'Bearer c2VjcmV0\xe9'],
      'Bearer ${c2VjcmV0}',
    ]) {
      for (const authorization of [[value], [value, value]]) {
        const { message, stack, detail, reason } = await refusalOf(authorization);
        expect([message, stack, detail, reason].join()).not.to.contain('c2VjcmV0');
      }
    }
  });
});

describe('the key of a caller', () => {
  it('is the same for the same token, has 256 bits as base64url, and names the snapshots too', async () => {
    const [one, again, two] = await Promise.all(['one', 'one', 'two'].map(identify));
    expect(one?.credentialKey).to.match(/^[\w-]{43}$/);
    expect([again?.credentialKey, one?.cacheScope]).to.deep.equal([one?.credentialKey, one?.credentialKey]);
    expect(two?.credentialKey).not.to.equal(one?.credentialKey);
  });

  it('reveals nothing about the token without the secret of the process', async () => {
    const { credentialKey: key } = await identify('one');
    expect(key).not.to.equal((await withValues(createAuthenticate())(['Bearer one'])).credentialKey);
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
    const signed = jwt({ exp: 1 });
    for (const token of ['opaque', 'a.b.c', 'a.b', `${signed}.d`, `${signed}.d.e`, part({ exp: 1 }), '../..']) {
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
