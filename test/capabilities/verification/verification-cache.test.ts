import { expect } from 'chai';
import fc from 'fast-check';
import { withVerificationCache } from '../../../src/capabilities/verification/verification-cache.ts';
import { rejected, unavailable } from '../../../src/capabilities/verification/verification-errors.ts';
import type { Verdict } from '../../../src/core/credentials/authenticate.ts';
import { Credential } from '../../../src/core/kernel/caller.ts';
import { ERRORS } from '../../../src/core/kernel/error-table.ts';
import { errorOf } from './scenery.ts';

const BOUNDS = { rememberMs: 60_000, rememberRejectedMs: 5000, maxRemembered: 3 };

function scene() {
  const looked: string[] = [];
  const told: object[] = [];
  const time = { now: 1_000_000, clock: 7 };
  const judged = new Map<string, () => Promise<Verdict>>();
  const verify = withVerificationCache(
    async (credential, key) => {
      const token = credential.reveal();
      looked.push(token);
      await Promise.resolve();
      return judged.get(token)?.() ?? good(key);
    },
    {
      ...BOUNDS,
      events: { credentialVerified: ({ verdict, reason }) => told.push({ verdict, reason }) },
      now: () => time.now,
      clock: () => time.clock,
    },
  );
  const good = (key: string): Verdict => ({
    cacheScope: key,
    expiresAt: Number.POSITIVE_INFINITY,
    verified: { subject: key, subjectKey: `s ${key}`, scopes: new Set() },
  });
  const fail = (token: string, error: Error) => judged.set(token, () => Promise.reject(error));
  const ask = async (token: string) => verify(new Credential(token), `key of ${token}`);
  const pass = (ms: number) => {
    time.now += ms;
    time.clock += ms;
  };
  return { ask, looked, told, judged, good, fail, pass, time };
}

describe('the verdict on a token', () => {
  it('is remembered for its time, and given at once then', async () => {
    const { ask, looked, pass } = scene();
    const first = await ask('a');
    pass(60_000);
    expect(await ask('a')).to.equal(first);
    expect(looked).to.deep.equal(['a']);
    pass(1);
    await ask('a');
    expect(looked).to.deep.equal(['a', 'a']);
  });

  it('is not remembered for longer because a clock was set back', async () => {
    const { ask, looked, time } = scene();
    await ask('a');
    time.now -= 3_600_000;
    time.clock += 60_001;
    await ask('a');
    expect(looked).to.have.length(2);
  });

  it('is remembered for a moment where the token was rejected, with the reason', async () => {
    const { ask, looked, told, fail, pass } = scene();
    fail('bad', rejected('it has expired'));
    for (const _ of [1, 2]) expect(await errorOf(ask('bad'))).to.deep.equal(['credential_rejected', 'it has expired']);
    expect(looked).to.deep.equal(['bad']);
    expect(told).to.deep.equal([{ verdict: 'rejected', reason: 'it has expired' }]);
    pass(5001);
    await errorOf(ask('bad'));
    expect(looked).to.have.length(2);
  });

  for (const [what, error, reason] of [
    ['the issuer is down', unavailable('the issuer could not be reached'), 'the issuer could not be reached'],
    ['there is a bug', new TypeError('a bug'), ERRORS.internal.title],
  ] as const) {
    it(`is undecided, and not remembered, if ${what}`, async () => {
      const { ask, looked, told, judged, fail } = scene();
      fail('a', error);
      expect(await ask('a').catch((thrown) => thrown)).to.equal(error);
      judged.delete('a');
      await ask('a');
      expect(looked).to.deep.equal(['a', 'a']);
      expect(told).to.deep.equal([
        { verdict: 'undecided', reason },
        { verdict: 'accepted', reason: undefined },
      ]);
    });
  }

  it('is not forgotten for a flood of tokens that are rejected', async () => {
    const { ask, looked, fail } = scene();
    await ask('good');
    for (let number = 0; number < 100; number += 1) {
      fail(`bad ${number}`, rejected('x'));
      await errorOf(ask(`bad ${number}`));
    }
    looked.length = 0;
    await ask('good');
    await errorOf(ask('bad 99'));
    expect(looked).to.deep.equal([]);
    await errorOf(ask('bad 0'));
    expect(looked).to.deep.equal(['bad 0']);
  });

  it('is computed once for concurrent requests with one token', async () => {
    const { ask, looked } = scene();
    const [first, second] = await Promise.all(['a', 'a'].map(ask));
    expect(second).to.equal(first);
    expect(looked).to.deep.equal(['a']);
  });

  it('is never that on another token, in any order of requests', async () => {
    const token = fc.constantFrom('a', 'b', 'c', 'd', 'bad e', 'bad f');
    const step = fc.record({ token, pass: fc.constantFrom(0, 0, 1000, 30_000, 61_000) });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
        const { ask, fail, pass } = scene();
        for (const bad of ['bad e', 'bad f']) {
          fail(bad, rejected(bad));
        }
        for (const { token: brought, pass: ms } of steps) {
          const [one, two] = await Promise.allSettled([ask(brought), ask(brought)]);
          for (const each of [one, two]) {
            const came = each?.status === 'fulfilled' ? each.value.verified.subject : each?.reason.reason;
            expect(came).to.equal(brought.startsWith('bad') ? brought : `key of ${brought}`);
          }
          pass(ms);
        }
      }),
    );
  });
});
