import { expect } from 'chai';
import fc from 'fast-check';
import { createDeploymentSecret } from '../../../src/capabilities/shared-cache/deployment-secret.ts';
import { Credential } from '../../../src/core/kernel/caller.ts';
import { anyText } from '../../support/any-text.ts';
import { SEED, SEEDED } from '../../support/seed.ts';

const TEXT = 'a secret of thirty-two bytes, or more';
const secretOf = (text = TEXT) => createDeploymentSecret(new Credential(text));
const bearer = (token: string, other?: string) =>
  other === undefined
    ? { credential: new Credential(token) }
    : { credential: new Credential(other), accessToken: new Credential(token) };

describe('a secret of a deployment', () => {
  it(`derives distinct names and keys for distinct callers and resources ${SEEDED}`, () => {
    const secret = secretOf();
    const token = fc.stringMatching(/^[A-Za-z0-9._~+/-]{1,12}$/);
    const one = fc.record({
      what: fc.string(),
      token,
      other: fc.option(fc.string({ minLength: 1 }), { nil: undefined }),
    });
    fc.assert(
      fc.property(one, one, (a, b) => {
        const isSameCaller = a.token === b.token && a.other === b.other;
        const [first, second] = [bearer(a.token, a.other), bearer(b.token, b.other)];
        expect(secret.nameOf([a.what], first) === secret.nameOf([b.what], second)).to.equal(
          isSameCaller && a.what === b.what,
        );
        expect(secret.sealingKeyOf(first).equals(secret.sealingKeyOf(second))).to.equal(isSameCaller);
      }),
      { numRuns: 200 },
    );
  });

  it(`seals messages, which open with the same secret only, and unaltered ${SEEDED}`, () => {
    const [one, other, stranger] = [secretOf(), secretOf(), secretOf(`${TEXT}.`)];
    fc.assert(
      fc.property(anyText(), fc.nat(), fc.integer({ min: 1, max: 255 }), (text, place, bits) => {
        const sealed = one.seal(text);
        expect(sealed).to.match(/^[\w-]+$/);
        expect(other.open(sealed)).to.equal(text);
        expect(stranger.open(sealed)).to.equal(undefined);
        expect(one.seal(text), 'the same twice').to.not.equal(sealed);
        const bytes = Buffer.from(sealed, 'base64url');
        const at = place % bytes.length;
        bytes[at] = (bytes[at] ?? 0) ^ bits;
        expect(one.open(bytes.toString('base64url'))).to.equal(undefined);
        expect(one.open(bytes.subarray(0, at).toString('base64url'))).to.equal(undefined);
      }),
      { numRuns: 200, seed: SEED },
    );
  });
});
