import { expect } from 'chai';
import fc from 'fast-check';
import { createLocalJWKSet } from 'jose';
import { createVerifySigned } from '../../../src/capabilities/verification/signed-token.ts';
import { AUDIENCE, claimsOf, createSigner, sign } from '../../support/authorization/issuer.ts';
import { SEEDED } from '../../support/seed.ts';
import { errorOf } from './scenery.ts';

const ISSUER = 'https://login.example';
const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';

describe('a signed token', () => {
  it(`has one spelling: no segment is taken in another that decodes to the same bytes ${SEEDED}`, async () => {
    const signer = await createSigner('ES256', 'one');
    let lookups = 0;
    const find = createLocalJWKSet({ keys: [signer.jwk] });
    const verify = createVerifySigned({
      ...{ issuer: ISSUER, audience: AUDIENCE, leewayMs: 0, now: Date.now },
      findKey(...token) {
        lookups += 1;
        return find(...token);
      },
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
