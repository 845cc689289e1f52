import { expect } from 'chai';
import fc from 'fast-check';
import { createLocalJWKSet } from 'jose';
import { createVerifySigned, type SignedTokenOptions } from '../../../src/capabilities/verification/signed-token.ts';
import { unavailable } from '../../../src/capabilities/verification/verification-errors.ts';
import { AUDIENCE, claimsOf, createSigner, sign, type TestClaims } from '../../support/authorization/issuer.ts';
import { SEEDED } from '../../support/seed.ts';
import { errorOf } from './scenery.ts';

const ISSUER = 'https://login.example';
const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';

/** Verifies with these keys, and with no newer ones. */
const verifying = (find: SignedTokenOptions['keys']['find'], renew = async () => false) =>
  createVerifySigned({
    ...{ issuer: ISSUER, audience: AUDIENCE, leewayMs: 0, now: Date.now },
    keys: { find, renew },
  });

describe('a signed token', () => {
  it('causes no fetch of keys if it has no signature to check', async () => {
    const verify = verifying(
      async () => {
        throw unavailable('the issuer could not be reached');
      },
      () => expect.fail('fetched'),
    );
    const token = await sign(await createSigner(), claimsOf(ISSUER));
    expect(await errorOf(verify(token))).to.deep.equal(['verifier_unavailable', 'the issuer could not be reached']);
  });

  it('that names none of several keys is rejected with the reason of the key that signed it', async () => {
    const signers = await Promise.all(['one', 'two', 'three'].map((kid) => createSigner('ES256', kid)));
    const verify = verifying(createLocalJWKSet({ keys: signers.map(({ jwk }) => jwk) }));
    const signer = { ...(signers[1] ?? expect.fail()), kid: undefined };
    const reasonOf = async (claims: TestClaims) =>
      (await errorOf(verify(await sign(signer, { ...claimsOf(ISSUER), ...claims }))))[1];
    expect(await reasonOf({ exp: 1 })).to.contain('it has expired');
    expect(await reasonOf({ aud: 'another' })).to.contain('it is not for this server');
  });

  it(`has one spelling: no segment is taken in another that decodes to the same bytes ${SEEDED}`, async () => {
    const signer = await createSigner('ES256', 'one');
    let lookups = 0;
    const find = createLocalJWKSet({ keys: [signer.jwk] });
    const verify = verifying((...token) => {
      lookups += 1;
      return find(...token);
    });
    const canonical = (segment: string) => Buffer.from(segment, 'base64url').toString('base64url');
    await fc.assert(
      fc.asyncProperty(fc.string(), fc.nat(2), fc.nat(63), fc.nat(2), async (sub, part, last, padding) => {
        const segments = (await sign(signer, { ...claimsOf(ISSUER), sub, nonce: sub })).split('.');
        const segment = segments[part] ?? '';
        const other = `${segment.slice(0, -1)}${ALPHABET[last]}${'='.repeat(padding)}`;
        fc.pre(other !== segment && canonical(other) === segment);
        const before = lookups;
        const spelled = segments.with(part, other).join('.');
        expect(await errorOf(verify(spelled))).to.deep.equal(['credential_rejected', 'it is no well-formed JWT']);
        expect(lookups).to.equal(before);
        expect(await verify(segments.join('.'))).to.include({ sub });
      }),
      { numRuns: 60 },
    );
  });
});
