import { expect } from 'chai';
import type { Announcements } from '../../../src/capabilities/shared-cache/announcements.ts';
import { createSharedRejections } from '../../../src/capabilities/shared-cache/shared-rejections.ts';
import type { Events } from '../../../src/core/kernel/events.ts';
import { withNegativeCache } from '../../../src/core/upstream/resilience/with-authorization.ts';
import { asking, calm, errorOf, rejection } from '../../core/upstream/harness.ts';
import { createScripted, PAGE, RESPONSES, status401 } from '../../core/upstream/scripted.ts';
import { SECRET } from '../../support/fleet/fleet.ts';

const TTL_MS = 5000;
const CALLED_AS = 'https://platform.example.com, with the credential of the caller';
/** Wall clocks differ from monotonic clocks. */
const EPOCH = 1_800_000_000_000;

type Listener = (rejection: string) => void;

function createChannel() {
  const replicas: Listener[][] = [];
  const announced: string[] = [];
  const channel = { isCut: false };
  return Object.assign(channel, {
    announced,
    connect(): Pick<Announcements, 'reject' | 'onRejection'> {
      const own: Listener[] = [];
      replicas.push(own);
      return {
        reject(text) {
          announced.push(text);
          if (channel.isCut) return;
          for (const other of replicas) if (other !== own) for (const listener of other) listener(text);
        },
        onRejection: (listener) => void own.push(listener),
      };
    },
    /** Delivers a text to all replicas, late or again. */
    deliver(text: string) {
      for (const replica of replicas) for (const listener of replica) listener(text);
    },
  });
}

/** Replicas of one deployment, a platform behind each, and one clock. */
function deployment() {
  const clock = { time: 1 };
  const channel = createChannel();

  function replica({ calledAs = CALLED_AS, ttlMs = TTL_MS, skewMs = 0 } = {}) {
    const refused: unknown[] = [];
    const outcomes: string[] = [];
    const events: Events = {
      callRefused: (event) => refused.push(event),
      sharedRejectionReceived: ({ outcome }) => outcomes.push(outcome),
    };
    const platform = createScripted();
    const store = createSharedRejections({
      ...{ announcements: channel.connect(), keyOf: SECRET.keyOf, events },
      now: () => EPOCH + clock.time + skewMs,
    });
    const now = () => clock.time;
    const upstream = withNegativeCache(platform.upstream, { ttlMs, rejections: store.of(calledAs), events, now });
    const get = (key: string) => upstream.get(asking('/', { credentialKey: key }), calm());
    return {
      ...{ upstream, platform, refused, outcomes, get, store },
      async fail(key: string, error: unknown = status401()) {
        const reading = rejection(get(key));
        platform.open.at(-1)?.fail(error);
        expect(await reading).to.equal(error);
      },
      /** Whether the platform is called for this caller. */
      async isCalled(key: string): Promise<boolean> {
        const before = platform.count();
        const reading = get(key).then(
          (page) => expect(page).to.deep.equal(PAGE),
          (error) =>
            expect(error).to.include({ code: 'credential_rejected', upstream: 'projects', countsForBreaker: false }),
        );
        platform.open.at(-1)?.succeed();
        await reading;
        return platform.count() > before;
      },
    };
  }

  return { clock, channel, replica };
}

describe('a rejected credential', () => {
  it('causes no call of another replica for the time that it is remembered, and calls after that', async () => {
    const { clock, replica } = deployment();
    const [one, two, three] = [replica(), replica(), replica()];
    await one.fail('a');
    clock.time = TTL_MS;
    for (const each of [one, two, three]) expect(await each.isCalled('a')).to.equal(false);
    clock.time = TTL_MS + 2;
    for (const each of [one, two, three]) expect(await each.isCalled('a')).to.equal(true);
  });

  it('is reported with each call that is spared', async () => {
    const { replica } = deployment();
    const [one, two] = [replica(), replica()];
    await one.fail('a');
    expect((await errorOf(two.get('a'))).reason).to.equal('rejected a moment ago, as another replica has found');
    expect(two.refused).to.deep.equal([{ requestId: 'request-1', upstream: 'projects', code: 'credential_rejected' }]);
    expect((await errorOf(one.get('a'))).reason).to.equal('rejected a moment ago');
    expect(two.outcomes).to.deep.equal(['taken']);
  });

  it('does not concern other callers, other upstreams or other settings', async () => {
    const { replica } = deployment();
    const [one, two, other] = [replica(), replica(), replica({ calledAs: 'another' })];
    await one.fail('a');
    expect(await two.isCalled('b')).to.equal(true);
    expect(await other.isCalled('a')).to.equal(true);
    expect(other.outcomes).to.deep.equal(['useless']);
  });

  it('is announced only if a platform has answered with 401, and if it is remembered', async () => {
    const { channel, replica } = deployment();
    const one = replica();
    for (const error of Object.values(RESPONSES)) if (error.code !== 'credential_rejected') await one.fail('a', error);
    await replica({ ttlMs: 0 }).fail('a');
    expect(channel.announced).to.deep.equal([]);
  });

  it('is remembered no longer if its announcement is late or delivered again', async () => {
    const { clock, channel, replica } = deployment();
    const [one, two] = [replica(), replica()];
    channel.isCut = true;
    await one.fail('a');
    const [text = ''] = channel.announced;
    for (const [time, isCalled] of [
      [4000, false],
      [4999, false],
      [5002, true],
    ] as const) {
      clock.time = time;
      channel.deliver(text);
      expect(await two.isCalled('a')).to.equal(isCalled);
    }
    expect(two.outcomes).to.deep.equal(['taken', 'taken', 'useless']);
    for (const other of ['', 'now', `${SECRET.keyOf(CALLED_AS)} a`]) channel.deliver(other);
    expect(two.outcomes.slice(3)).to.deep.equal(Array(3).fill('useless'));
  });

  it('can be of a clock that is a second ahead, and no more', async () => {
    const { clock, replica } = deployment();
    const [ahead, far, two] = [replica({ skewMs: 1000 }), replica({ skewMs: 1001 }), replica()];
    await ahead.fail('a');
    await far.fail('b');
    expect([await two.isCalled('a'), await two.isCalled('b')]).to.deep.equal([false, true]);
    clock.time = TTL_MS + 2;
    expect(await two.isCalled('a')).to.equal(true);
  });

  it('displaces none that this replica has found itself, however many are announced', async () => {
    const { channel, replica } = deployment();
    const two = replica();
    channel.isCut = true;
    await two.fail('a');
    const prefix = `${EPOCH} ${SECRET.keyOf(CALLED_AS)}`;
    for (let count = 0; count < 12_000; count += 1) channel.deliver(`${prefix} ${count}`);
    expect(await two.isCalled('a')).to.equal(false);
    expect(await two.isCalled('0'), 'the oldest of many').to.equal(true);
    expect(await two.isCalled('11999'), 'the newest').to.equal(false);
  });
});
