import { expect } from 'chai';
import { createLocalJWKSet } from 'jose';
import { unavailable } from '../../../src/credentials/verification/outcome.ts';
import { createVerifySigned } from '../../../src/credentials/verification/signed-token.ts';
import { AUDIENCE, claimsOf, createSigner, sign, type TestClaims } from '../../support/authorization/issuer.ts';
import { errorOf } from './scenery.ts';

const ISSUER = 'https://login.example';

describe('a signed token', () => {
  it('has no newer keys asked for where there are none to look at', async () => {
    let asked = 0;
    const verify = createVerifySigned({
      ...{ issuer: ISSUER, audience: AUDIENCE, algorithms: ['ES256'], leewayMs: 0, now: Date.now },
      keys: {
        current: async () => {
          throw unavailable('the issuer could not be asked');
        },
        async newer() {
          asked += 1;
          return undefined;
        },
      },
    });
    const token = await sign(await createSigner(), claimsOf(ISSUER));
    expect(await errorOf(verify(token))).to.deep.equal(['verifier_unavailable', 'the issuer could not be asked']);
    expect(asked).to.equal(0);
  });

  it('that names none of several keys is told what is wrong with it by the one that signed it', async () => {
    const signers = await Promise.all(['one', 'two', 'three'].map((kid) => createSigner('ES256', kid)));
    const find = createLocalJWKSet({ keys: signers.map(({ jwk }) => jwk) });
    const verify = createVerifySigned({
      ...{ issuer: ISSUER, audience: AUDIENCE, algorithms: ['ES256'], leewayMs: 0, now: Date.now },
      keys: { current: async () => find, newer: async () => undefined },
    });
    const [, signer = expect.fail()] = signers;
    const reasonOf = async (claims: TestClaims) =>
      (await errorOf(verify(await sign({ ...signer, kid: undefined }, { ...claimsOf(ISSUER), ...claims }))))[1];
    expect(await reasonOf({ exp: 1 })).to.contain('it has expired');
    expect(await reasonOf({ aud: 'another' })).to.contain('it is not for this server');
  });
});
