import { expect } from 'chai';
import { unavailable } from '../../../src/credentials/verification/outcome.ts';
import { createVerifySigned } from '../../../src/credentials/verification/signed-token.ts';
import { AUDIENCE, claimsOf, createSigner, sign } from '../../support/issuer.ts';
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
});
