import { expect } from 'chai';
import type { JWK } from 'jose';
import { createKeySet, type KeySet } from '../../../src/capabilities/verification/key-set.ts';
import { unavailable } from '../../../src/capabilities/verification/outcome.ts';
import { createSigner, type Signer } from '../../support/authorization/issuer.ts';
import { errorOf } from './scenery.ts';

interface Scene {
  readonly keys: KeySet;
  /** What the issuer answers; an error: it does not; `undefined`: nothing comes. */
  answer: object | Error | undefined;
  now: number;
  readonly asked: () => number;
  readonly forgotten: () => number;
  /** What was told: a number of keys, or why there are none. */
  readonly told: (number | string | undefined)[];
}

function scene(answer: object | Error, { url = 'https://login.example/keys' as string | undefined } = {}): Scene {
  let asked = 0;
  let forgotten = 0;
  const told: Scene['told'] = [];
  const keys = createKeySet({
    issuer: {
      async fetchJson(at) {
        asked += 1;
        expect(at).to.equal(url ?? 'https://login.example/found');
        await Promise.resolve();
        if (it.answer instanceof Error) throw it.answer;
        if (it.answer === undefined) return new Promise(() => {});
        return it.answer as Record<string, unknown>;
      },
      endpoint: async () => 'https://login.example/found',
      forget() {
        forgotten += 1;
      },
    },
    url,
    ...{ refreshMs: 1000, cooldownMs: 100, maxWaiting: 2 },
    events: { issuerKeysFetched: ({ keys: count, error }) => told.push(error?.reason ?? count) },
    now: () => it.now,
  });
  const it: Scene = { keys, answer, now: 5000, asked: () => asked, forgotten: () => forgotten, told };
  return it;
}

const DOWN = unavailable('the issuer could not be reached');

describe('the keys of an issuer', () => {
  let signer: Signer;
  let other: Signer;
  before(async () => {
    signer = await createSigner('ES256', 'one');
    other = await createSigner('RS256', 'two');
  });

  const set = (...jwks: readonly unknown[]) => ({ keys: jwks });
  const finds = async (find: Awaited<ReturnType<KeySet['current']>>, { alg, kid }: Signer) =>
    Promise.resolve(find({ alg, ...(kid !== undefined && { kid }) }, { payload: '', signature: '' })).then(
      () => true,
      () => false,
    );

  it('are fetched once for concurrent requests, and not again', async () => {
    const it = scene(set(signer.jwk));
    const [one, two] = await Promise.all([it.keys.current(), it.keys.current()]);
    expect(one).to.equal(two);
    expect(await it.keys.current()).to.equal(one);
    expect([it.asked(), it.told]).to.deep.equal([1, [1]]);
  });

  it('are fetched from the address in the metadata, and looked up again once that fails', async () => {
    const it = scene(DOWN, { url: undefined });
    await errorOf(it.keys.current());
    expect(it.forgotten()).to.equal(1);
    it.answer = set(signer.jwk);
    it.now += 100;
    expect(await finds(await it.keys.current(), signer)).to.equal(true);
  });

  it('that cannot be fetched are not requested again for a while', async () => {
    const it = scene(DOWN);
    for (const _ of [1, 2, 3]) {
      expect(await errorOf(it.keys.current())).to.deep.equal(['verifier_unavailable', DOWN.reason]);
    }
    expect(it.asked()).to.equal(1);
    it.now += 100;
    await errorOf(it.keys.current());
    expect(it.asked()).to.equal(2);
    expect(it.told).to.deep.equal([DOWN.reason, DOWN.reason]);
  });

  it('are refreshed in the background once they are old', async () => {
    const it = scene(set(signer.jwk));
    const first = await it.keys.current();
    it.now += 1000;
    it.answer = set(other.jwk);
    expect(await it.keys.current()).to.equal(first);
    const next = await it.keys.newer();
    expect(await it.keys.current()).to.equal(next);
    expect(await finds(await it.keys.current(), signer)).to.equal(false);
    expect(it.asked()).to.equal(2);
  });

  it('stay valid while keys cannot be fetched, up to twice their lifetime', async () => {
    const it = scene(set(signer.jwk));
    const first = await it.keys.current();
    const begun = it.now;
    for (const answer of [DOWN, new Error('a bug'), set(), {}, { keys: 'x' }]) {
      it.answer = answer;
      it.now = begun + 1999;
      expect(await it.keys.current()).to.equal(first);
      it.now += 1;
      expect((await errorOf(it.keys.current()))[0]).to.equal('verifier_unavailable');
      expect((await errorOf(it.keys.newer().then(() => Promise.reject(DOWN))))[0]).to.equal('verifier_unavailable');
      it.now += 1_000_000;
      expect((await errorOf(it.keys.current()))[0]).to.equal('verifier_unavailable');
    }
    it.answer = set(signer.jwk);
    it.now += 100;
    expect(await finds(await it.keys.current(), signer)).to.equal(true);
  });

  it('are as old as the request for them, however slow its answer was', async () => {
    const it = scene(set(signer.jwk));
    const fetched = it.keys.current();
    it.now += 2000;
    await fetched;
    it.answer = DOWN;
    expect((await errorOf(it.keys.current()))[0]).to.equal('verifier_unavailable');
  });

  it('delay no request while those before are within their time, however slow the issuer is', async () => {
    const it = scene(set(signer.jwk));
    const first = await it.keys.current();
    it.now += 1000;
    it.answer = undefined;
    for (const _ of [1, 2, 3]) expect(await it.keys.current()).to.equal(first);
    it.now += 999;
    expect(await it.keys.current()).to.equal(first);
    expect(it.asked()).to.equal(2);
  });

  it('are not fetched for a key that is not known within a while of the last time', async () => {
    const it = scene(set(signer.jwk));
    await it.keys.current();
    it.now += 99;
    expect(await it.keys.newer()).to.equal(undefined);
    it.now += 1;
    expect(await it.keys.newer()).to.be.a('function');
    expect(it.asked()).to.equal(2);
  });

  const oct: JWK = { kty: 'oct', k: 'c2VjcmV0', kid: 'one', alg: 'HS256' };

  it('are used as far as they can be, and the others left out', async () => {
    const it = scene(set(oct, { ...other.jwk, e: 'Aw' }, signer.jwk));
    expect(await finds(await it.keys.current(), signer)).to.equal(true);
    expect(it.told).to.deep.equal([1]);
  });

  for (const [name, jwks] of [
    ['none', []],
    ['only a shared secret', [oct]],
    ['an RSA key with an exponent just below 65537', [{ kty: 'RSA', n: 'AQAB', e: 'AP__' }]],
    ['an RSA key whose exponent is no number', [{ kty: 'RSA', n: 'AQAB', e: '' }]],
  ] as const) {
    it(`are not taken where there is ${name}`, async () => {
      const it = scene(set(...jwks));
      expect(await errorOf(it.keys.current())).to.deep.equal([
        'verifier_unavailable',
        'the issuer has no key that can be used',
      ]);
    });
  }
});
