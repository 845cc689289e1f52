import { expect } from 'chai';
import { createKeySet } from '../../../src/capabilities/verification/key-set.ts';
import { unavailable } from '../../../src/capabilities/verification/verification-errors.ts';
import { createSigner, type Signer } from '../../support/authorization/issuer.ts';
import { errorOf } from './scenery.ts';

const DOWN = unavailable('the issuer could not be reached');
const COOLDOWN_MS = 100;

/** Keys of an issuer that answers what the test sets; an error: it does not answer; `undefined`: nothing arrives. */
function keysFrom(initial: object | Error | undefined) {
  const issuer = { answer: initial, now: 5000, requests: 0, reported: [] as (number | string | undefined)[] };
  const findKey = createKeySet({
    issuer: 'https://login.example',
    async load() {
      issuer.requests += 1;
      await Promise.resolve();
      if (issuer.answer instanceof Error) throw issuer.answer;
      return issuer.answer === undefined ? new Promise(() => {}) : (issuer.answer as Record<string, unknown>);
    },
    ...{ refreshMs: 1000, cooldownMs: COOLDOWN_MS },
    events: { issuerKeysFetched: ({ keys: count, error }) => issuer.reported.push(error?.reason ?? count) },
    now: () => issuer.now,
  });
  const find = async ({ alg, kid }: Signer) =>
    findKey({ alg, ...(kid !== undefined && { kid }) }, { payload: '', signature: '' });
  /** Whether there is such a key. Rejects where the keys cannot be fetched. */
  const has = (signer: Signer) =>
    find(signer).then(
      () => true,
      (error) => {
        if (error.code === 'ERR_JWKS_NO_MATCHING_KEY') return false;
        throw error;
      },
    );
  return { issuer, has };
}

describe('the keys of an issuer', () => {
  let signer: Signer;
  let other: Signer;
  before(async () => {
    signer = await createSigner('ES256', 'one');
    other = await createSigner('RS256', 'two');
  });

  const set = (...keys: readonly unknown[]) => ({ keys });
  const pause = () => new Promise((resolve) => setTimeout(resolve, COOLDOWN_MS + 20));

  it('are fetched once for concurrent requests, and not again', async () => {
    const { issuer, has } = keysFrom(set(signer.jwk));
    expect(await Promise.all([has(signer), has(signer)])).to.deep.equal([true, true]);
    expect(await has(signer)).to.equal(true);
    expect([issuer.requests, issuer.reported]).to.deep.equal([1, [1]]);
  });

  it('that cannot be fetched are not requested again within the cool-down', async () => {
    const { issuer, has } = keysFrom(DOWN);
    for (const _ of [1, 2, 3]) {
      expect(await errorOf(has(signer))).to.deep.equal(['verifier_unavailable', DOWN.reason]);
    }
    expect(issuer.requests).to.equal(1);
    issuer.now += COOLDOWN_MS;
    await errorOf(has(signer));
    expect(issuer.requests).to.equal(2);
    expect(issuer.reported).to.deep.equal([DOWN.reason, DOWN.reason]);
  });

  it('are refreshed in the background once they are old', async () => {
    const { issuer, has } = keysFrom(set(signer.jwk));
    await has(signer);
    issuer.now += 1000;
    issuer.answer = set(other.jwk);
    expect(await has(signer)).to.equal(true);
    await new Promise(setImmediate);
    expect([await has(signer), await has(other), issuer.requests]).to.deep.equal([false, true, 2]);
  });

  it('stay valid while keys cannot be fetched, up to twice their lifetime', async () => {
    const { issuer, has } = keysFrom(set(signer.jwk));
    await has(signer);
    const begun = issuer.now;
    for (const answer of [DOWN, new Error('a bug'), set(), {}, { keys: 'x' }]) {
      issuer.answer = answer;
      issuer.now = begun + 1999;
      expect(await has(signer)).to.equal(true);
      await new Promise(setImmediate);
      issuer.now = begun + 2000 + COOLDOWN_MS;
      expect((await errorOf(has(signer)))[0]).to.equal('verifier_unavailable');
    }
    issuer.answer = set(signer.jwk);
    issuer.now += COOLDOWN_MS;
    expect(await has(signer)).to.equal(true);
  });

  it('delay no request while those before are within their time, however slow the issuer is', async () => {
    const { issuer, has } = keysFrom(set(signer.jwk));
    await has(signer);
    issuer.now += 1000;
    issuer.answer = undefined;
    for (const _ of [1, 2, 3]) expect(await has(signer)).to.equal(true);
    expect(issuer.requests).to.equal(2);
  });

  it('are fetched for a key that is not known, once per cool-down, whether the issuer answers or not', async () => {
    const { issuer, has } = keysFrom(set(signer.jwk));
    expect([await has(signer), await has(other), issuer.requests]).to.deep.equal([true, false, 1]);
    await pause();
    expect([await has(other), await has(other), issuer.requests]).to.deep.equal([false, false, 2]);
    issuer.answer = DOWN;
    await pause();
    for (const _ of [1, 2, 3]) expect((await errorOf(has(other)))[0]).to.equal('verifier_unavailable');
    expect([await has(signer), issuer.requests]).to.deep.equal([true, 3]);
  });

  for (const answer of [{ keys: [] }, { keys: 'x' }, {}]) {
    it(`are not taken from ${JSON.stringify(answer)}`, async () => {
      const { has } = keysFrom(answer);
      expect(await errorOf(has(signer))).to.deep.equal(['verifier_unavailable', 'the issuer answered without keys']);
    });
  }

  it('that are not known delay no token with a known key', async () => {
    const { issuer, has } = keysFrom(set(signer.jwk));
    await has(signer);
    await pause();
    issuer.answer = undefined;
    for (const _ of [1, 2]) void has(other);
    await new Promise(setImmediate);
    expect(await has(signer)).to.equal(true);
  });
});
