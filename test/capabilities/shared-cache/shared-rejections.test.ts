import { expect } from 'chai';
import fc from 'fast-check';
import {
  createDeploymentSecret,
  type DeploymentSecret,
} from '../../../src/capabilities/shared-cache/deployment-secret.ts';
import { createSharedRejections } from '../../../src/capabilities/shared-cache/shared-rejections.ts';
import { Credential } from '../../../src/core/kernel/caller.ts';
import type { Events } from '../../../src/core/kernel/events.ts';
import { withNegativeCache } from '../../../src/core/upstream/resilience/with-negative-cache.ts';
import { asking, calm, errorOf, rejection } from '../../core/upstream/harness.ts';
import { createScripted, PAGE, RESPONSES, status401 } from '../../core/upstream/scripted.ts';
import { eventually } from '../../support/eventually.ts';
import { createMemoryRejections } from '../../support/fleet/rejections.ts';
import { holdToRejectionsContract } from '../../support/fleet/rejections-contract.ts';
import { SEED, SEEDED } from '../../support/seed.ts';

const TTL_MS = 5000;
const ASKED = 'https://platform.example.com, with the credential of the caller';
/** Wall clocks are somewhere else than those that never go back. */
const EPOCH = 1_800_000_000_000;

const secretOf = (text: string): DeploymentSecret => createDeploymentSecret(new Credential(text.padEnd(32, '.')));
const SECRET = secretOf('the secret of the deployment');

describe('the store of rejections of the tests', () => {
  const store = createMemoryRejections();
  holdToRejectionsContract(async () => store.connect());
});

/** Replicas of one deployment over one store, a platform behind each, and a clock that all of them go by. */
function deployment() {
  const clock = { time: 1 };
  const store = createMemoryRejections();

  function replica({
    asked = ASKED,
    ttlMs = TTL_MS,
    skewMs = 0,
    secrets = [SECRET] as readonly [DeploymentSecret, ...DeploymentSecret[]],
  } = {}) {
    const refused: unknown[] = [];
    const outcomes: string[] = [];
    const events: Events = {
      callRefused: (event) => refused.push(event),
      sharedRejectionHeard: ({ outcome }) => outcomes.push(outcome),
    };
    const platform = createScripted();
    const rejections = createSharedRejections({
      ...{ store: store.connect(), secrets, events },
      now: () => EPOCH + clock.time + skewMs,
    });
    const now = () => clock.time;
    const upstream = withNegativeCache(platform.upstream, { ttlMs, rejections: rejections.by(asked), events, now });
    const get = (key: string) => upstream.get(asking('/', { key }), calm());
    return {
      ...{ upstream, platform, refused, outcomes, get, rejections },
      async fail(key: string, error: unknown = status401()) {
        const reading = rejection(get(key));
        platform.open.at(-1)?.fail(error);
        expect(await reading).to.equal(error);
      },
      /** Whether the platform is asked for this caller. */
      async isAsked(key: string): Promise<boolean> {
        const before = platform.count();
        const reading = get(key).then(
          (page) => expect(page).to.deep.equal(PAGE),
          (error) => expect(error).to.include({ code: 'credential_rejected', upstream: 'projects', fault: false }),
        );
        platform.open.at(-1)?.succeed();
        await reading;
        return platform.count() > before;
      },
    };
  }

  return { clock, store, replica };
}

describe('a credential that an upstream has rejected', () => {
  it('is sent by no other replica until the time of that is over, and by each of them then', async () => {
    const { clock, replica } = deployment();
    const [one, two, three] = [replica(), replica(), replica()];
    await one.fail('a');
    clock.time = TTL_MS;
    expect([await two.isAsked('a'), await three.isAsked('a'), await one.isAsked('a')]).to.deep.equal(
      Array(3).fill(false),
    );
    clock.time = TTL_MS + 2;
    expect([await two.isAsked('a'), await three.isAsked('a'), await one.isAsked('a')]).to.deep.equal(
      Array(3).fill(true),
    );
  });

  it('is told of with each call that is spared, and why', async () => {
    const { replica } = deployment();
    const [one, two] = [replica(), replica()];
    await one.fail('a');
    expect((await errorOf(two.get('a'))).reason).to.equal('rejected a moment ago, as another replica has told');
    expect(two.refused).to.deep.equal([
      { requestId: 'request-1', upstream: 'projects', code: 'credential_rejected', shared: true },
    ]);
    expect((await errorOf(one.get('a'))).reason).to.equal('rejected a moment ago');
    expect(one.refused[0]).to.not.have.property('shared');
    expect(two.outcomes).to.deep.equal(['taken']);
  });

  it('is told of once, however many calls were under way, and no more while that is known', async () => {
    const { store, replica } = deployment();
    const [one, two] = [replica(), replica()];
    const calls = [one.get('a'), one.get('a')].map(rejection);
    for (const request of [...one.platform.open]) request.fail(status401());
    await Promise.all(calls);
    for (const { get } of [one, two, one]) await errorOf(get('a'));
    expect(store.told).to.have.length(1);
  });

  it('is nothing to other callers, nor to other upstreams and other settings', async () => {
    const { replica } = deployment();
    const [one, two, other] = [replica(), replica(), replica({ asked: 'another' })];
    await one.fail('a');
    expect(await two.isAsked('b')).to.equal(true);
    expect(await other.isAsked('a')).to.equal(true);
    expect(other.outcomes).to.deep.equal(['useless']);
  });

  it('is not what Portico sends of its own, nor one that may not see something', async () => {
    const { store, replica } = deployment();
    const [one, two] = [replica(), replica()];
    for (const error of Object.values(RESPONSES)) if (error.code !== 'credential_rejected') await one.fail('a', error);
    expect(store.told).to.deep.equal([]);
    expect(await two.isAsked('a')).to.equal(true);
  });

  it('is neither told of nor heard of where nothing is remembered', async () => {
    const { store, replica } = deployment();
    const [one, two] = [replica({ ttlMs: 0 }), replica()];
    await one.fail('a');
    expect(store.told).to.deep.equal([]);
    await two.fail('a');
    expect(store.told).to.have.length(1);
    expect(await one.isAsked('a')).to.equal(true);
  });

  it('is remembered by each replica alone where the store brings nothing', async () => {
    const { store, replica } = deployment();
    const [one, two] = [replica(), replica()];
    store.cut(true);
    await one.fail('a');
    expect([await one.isAsked('a'), await two.isAsked('a')]).to.deep.equal([false, true]);
  });

  it('is not heard of by an upstream that was closed', async () => {
    const { replica } = deployment();
    const [one, two] = [replica(), replica()];
    await two.upstream.close();
    await one.fail('a');
    expect(two.outcomes).to.deep.equal(['useless']);
  });

  it('is heard of by each upstream that is asked in that way, while two are', async () => {
    const { replica } = deployment();
    const [one, two] = [replica(), replica()];
    const heard: string[] = [];
    const stop = two.rejections.by(ASKED).onTold(TTL_MS, (key) => heard.push(key));
    await one.fail('a');
    stop();
    await one.fail('b');
    expect(heard).to.deep.equal(['a']);
    expect([await two.isAsked('a'), await two.isAsked('b')]).to.deep.equal([false, false]);
  });

  it('tells the store neither its caller, nor its upstream, nor when that was', async () => {
    const { store, replica } = deployment();
    await replica().fail('key-of-the-caller');
    const [sealed = ''] = store.told;
    const said = [sealed, Buffer.from(sealed, 'base64url').toString('latin1')].join();
    for (const word of ['key-of', 'platform', `${EPOCH}`.slice(0, 5)]) expect(said).to.not.contain(word);
  });
});

describe('what a store brings as a rejection', () => {
  it('is believed once a replica has sealed it, and for no longer than it was then', async () => {
    const { clock, store, replica } = deployment();
    const [one, two] = [replica(), replica()];
    store.cut(true);
    await one.fail('a');
    clock.time = 4000;
    store.bring(store.told);
    expect(await two.isAsked('a')).to.equal(false);
    clock.time = 4999;
    store.bring(store.told);
    expect(await two.isAsked('a')).to.equal(false);
    clock.time = 5002;
    store.bring(store.told);
    expect(await two.isAsked('a')).to.equal(true);
    expect(two.outcomes).to.deep.equal(['taken', 'taken', 'useless']);
  });

  it('is nothing where none has: made up, altered, or of another deployment', async () => {
    const { store, replica } = deployment();
    const [one, stranger, two] = [replica(), replica({ secrets: [secretOf('another')] }), replica()];
    store.cut(true);
    await one.fail('a');
    await stranger.fail('a');
    const [own = '', strange = ''] = store.told;
    const altered = `${own.slice(0, -2)}${own.endsWith('AA') ? 'BB' : 'AA'}`;
    store.bring([strange, altered, '', 'x', `${EPOCH} ${SECRET.keyOf(ASKED)} a`]);
    expect(await two.isAsked('a')).to.equal(true);
    expect(two.outcomes).to.deep.equal(Array(5).fill('altered'));
  });

  it('is nothing where a replica has sealed something else', async () => {
    const { store, replica } = deployment();
    const two = replica();
    store.bring(['', 'now', `${SECRET.keyOf(ASKED)} a`].map(SECRET.seal));
    expect(two.outcomes).to.deep.equal(Array(3).fill('useless'));
    expect(await two.isAsked('a')).to.equal(true);
  });

  it('is of no use, and yet not altered, under the secret before', async () => {
    const { replica } = deployment();
    const [before, next] = [secretOf('before'), secretOf('next')];
    const [one, two] = [replica({ secrets: [before, next] }), replica({ secrets: [next, before] })];
    await one.fail('a');
    await two.fail('b');
    expect([one.outcomes, two.outcomes]).to.deep.equal([['useless'], ['useless']]);
  });

  it('may be of a clock that is a second ahead, and no more', async () => {
    const { clock, replica } = deployment();
    const [ahead, far, two] = [replica({ skewMs: 1000 }), replica({ skewMs: 1001 }), replica()];
    await ahead.fail('a');
    await far.fail('b');
    expect([await two.isAsked('a'), await two.isAsked('b')]).to.deep.equal([false, true]);
    clock.time = TTL_MS + 2;
    expect(await two.isAsked('a')).to.equal(true);
  });

  it('takes nothing from what was found here, however much it is', async () => {
    const { store, replica } = deployment();
    const [one, two] = [replica(), replica()];
    store.cut(true);
    await two.fail('a');
    await one.fail('b');
    const known = store.told.slice(1);
    for (let round = 0; round < 6; round += 1) {
      const at = `${EPOCH} ${SECRET.keyOf(ASKED)}`;
      store.bring(Array.from({ length: 2000 }, (_, count) => SECRET.seal(`${at} ${round}-${count}`)));
      await eventually(() => two.outcomes.length === (round + 1) * 2000);
    }
    store.bring(known);
    expect([await two.isAsked('a'), await two.isAsked('b')]).to.deep.equal([false, false]);
    expect(await two.isAsked('0-0'), 'the oldest of many').to.equal(true);
    expect(await two.isAsked('5-1999'), 'the newest').to.equal(false);
  });

  it('waits for its turn, and is let go of where too much waits', async () => {
    const { store, replica } = deployment();
    const two = replica();
    store.bring(Array.from({ length: 5000 }, () => 'made up'));
    const atOnce = two.outcomes.length;
    expect(atOnce).to.be.within(1, 500);
    store.bring(Array.from({ length: 5000 }, () => 'made up'));
    expect(two.outcomes.length).to.equal(atOnce);
    await eventually(() => two.outcomes.length === 2000 + atOnce);
    store.bring(['made up']);
    expect(two.outcomes.length).to.equal(2001 + atOnce);
  });

  it(`turns nobody away whom the upstream has not rejected within that time, whatever is brought ${SEEDED}`, async () => {
    const KEYS = ['a', 'b'];
    const step = fc.oneof(
      fc.record({
        do: fc.constant('ask' as const),
        at: fc.nat({ max: 2 }),
        key: fc.constantFrom(...KEYS),
        good: fc.boolean(),
      }),
      fc.record({ do: fc.constant('pass' as const), ms: fc.constantFrom(1, 250, 2000, TTL_MS) }),
      fc.record({
        do: fc.constant('bring' as const),
        index: fc.nat({ max: 20 }),
        flip: fc.option(fc.nat({ max: 400 })),
      }),
      fc.record({ do: fc.constant('cut' as const), isCut: fc.boolean() }),
    );
    const skews = fc.tuple(...Array.from({ length: 3 }, () => fc.integer({ min: -500, max: 500 })));
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 60, size: 'max' }), skews, async (steps, [one, two, three]) => {
        const { clock, store, replica } = deployment();
        const replicas = [one, two, three].map((skewMs) => replica({ skewMs }));
        /** When the upstream rejected it last, and whether all others have heard. */
        const rejected = new Map<string, { readonly at: number; readonly isHeard: boolean }>();
        let isCut = false;
        for (const next of steps) {
          if (next.do === 'pass') clock.time += next.ms;
          else if (next.do === 'cut') {
            isCut = next.isCut;
            store.cut(isCut);
          } else if (next.do === 'bring') {
            const sealed = Buffer.from(store.told[next.index % Math.max(1, store.told.length)] ?? 'x', 'base64url');
            if (next.flip !== null && sealed.length > 0) {
              const at = next.flip % sealed.length;
              sealed[at] = (sealed[at] ?? 0) ^ 1;
            }
            store.bring([sealed.toString('base64url')]);
          } else {
            const asked = replicas[next.at];
            if (asked === undefined) throw new Error('no such replica');
            const before = asked.platform.count();
            const reading = asked.get(next.key).catch(() => {});
            const request = asked.platform.open.at(-1);
            if (next.good) request?.succeed();
            else request?.fail(status401());
            await reading;
            const isAsked = asked.platform.count() > before;
            const { at, isHeard } = rejected.get(next.key) ?? { at: Number.NEGATIVE_INFINITY, isHeard: false };
            const ago = clock.time - at;
            // Clocks here are a second apart at most.
            if (!isAsked) expect(ago, 'a rejection of that time').to.be.at.most(TTL_MS + 1000);
            if (isHeard) expect(isAsked && ago < TTL_MS - 1000, 'asked again').to.equal(false);
            if (isAsked && !next.good) rejected.set(next.key, { at: clock.time, isHeard: !isCut });
          }
        }
      }),
      { numRuns: 300, seed: SEED },
    );
  });
});
