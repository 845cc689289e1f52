import { expect } from 'chai';
import fc from 'fast-check';
import { type ErrorCode, GatewayError } from '../../src/kernel/errors.ts';
import { createSnapshotCache } from '../../src/snapshots/cache.ts';
import type { Load, Read } from '../../src/snapshots/load.ts';
import { withCache } from '../../src/snapshots/with-cache.ts';
import { SEED, SEEDED } from '../support/seed.ts';
import { callerOf, createTower, type Departure, roomy, settle, text } from './departures.ts';

const SEQUENCES = 10_000;
/** Tokens, and whose snapshots they are served: bob and carol share theirs. */
const PARTITIONS: Readonly<Record<string, string>> = { alice: 'alice', bob: 'team', carol: 'team' };
const TOKENS = Object.keys(PARTITIONS);
const RESOURCES = ['projects', 'workflows', 'tools'];
const TTL = 60;
const LIFETIME = { ttlMs: TTL, staleWhileRevalidateMs: 300, staleIfErrorMs: 3600, minRefreshMs: 5 };
const LIMITS = { maxBytes: 12_000, maxEntries: 3 };

/** What an upstream does for a token. It makes up its mind when it is asked, and answers when it likes. */
const ANSWERS = [
  'good',
  'upstream_failed',
  'upstream_invalid',
  'credential_rejected',
  'access_denied',
  'gone',
] as const;
type Answer = (typeof ANSWERS)[number];

/** One load at the upstream, and what it will answer. */
interface Asked {
  readonly departure: Departure;
  readonly token: string;
  readonly resource: string;
  readonly answer: Answer;
  readonly number: number;
  readonly at: number;
  settled: boolean;
  /** It brought the list. */
  landed: boolean;
}

interface Reading {
  readonly token: string;
  readonly resource: string;
  readonly noCache: boolean;
  /** When the reader's token ends. */
  readonly expiresAt: number;
  readonly at: number;
  readonly controller: AbortController;
  done: boolean;
}

/** The layers as the gateway puts them together, over an upstream of the test's; and all that must always hold. */
class World {
  clock = 1_000_000;
  readonly asked: Asked[] = [];
  readonly readings: Reading[] = [];
  /** What the upstream does for each token now; good unless told otherwise. */
  readonly answers = new Map<string, Answer>();
  /** Number of the last load when a denial arrived, by token and resource. Nothing older may be served from memory. */
  readonly evictedAt = new Map<string, number>();
  readonly cache = createSnapshotCache(LIMITS);
  readonly expiry = new Map<string, number>();
  readonly sources: ReadonlyMap<string, Read>;

  constructor() {
    const now = () => this.clock;
    this.sources = new Map(
      RESOURCES.map((resource) => {
        const tower = createTower(now);
        const source = withCache(
          (caller, signal, loadOptions) => {
            const loading = tower.load(caller, signal, loadOptions);
            const departure = tower.departures.at(-1);
            if (departure === undefined) throw new Error('nothing departed');
            this.depart(departure, resource);
            return loading;
          },
          {
            resource,
            siblings: RESOURCES,
            cache: this.cache,
            lifetime: resource === 'projects' ? undefined : LIFETIME,
            waiting: roomy(),
            events: {},
            now,
          },
        );
        return [resource, source] as const;
      }),
    );
  }

  depart(departure: Departure, resource: string): void {
    const token = departure.caller.key;
    const number = this.asked.length;
    const answer = this.answers.get(token) ?? 'good';
    const asked = { departure, token, resource, answer, number, at: this.clock, settled: false, landed: false };
    departure.signal.addEventListener('abort', () => {
      asked.settled = true;
    });
    this.asked.push(asked);
  }

  get open(): Asked[] {
    return this.asked.filter(({ settled }) => !settled);
  }

  get waiting(): Reading[] {
    return this.readings.filter(({ done }) => !done);
  }

  read(token: string, resource: string, noCache: boolean): void {
    const controller = new AbortController();
    const expiresAt = this.expiry.get(token) ?? Number.POSITIVE_INFINITY;
    const reading: Reading = { token, resource, noCache, expiresAt, at: this.clock, controller, done: false };
    this.readings.push(reading);
    const caller = callerOf(token, { expiresAt, partition: PARTITIONS[token] ?? token });
    const source = this.sources.get(resource);
    if (source === undefined) throw new Error('no such resource');
    const answer = source(caller, { signal: controller.signal, noCache });
    if (!(answer instanceof Promise) && answer.cached?.forwarded !== undefined)
      this.broken.push('at once, but not held');
    Promise.resolve(answer).then(
      (served) => {
        reading.done = true;
        this.check(reading, served);
      },
      (error) => {
        reading.done = true;
        if (!controller.signal.aborted && !(error instanceof GatewayError)) this.broken.push(error);
      },
    );
  }

  /** What did not hold, told after each step: a throw in a callback would be lost. */
  readonly broken: unknown[] = [];

  check(reading: Reading, served: Load): void {
    try {
      const [item] = JSON.parse(text(served));
      const source = this.asked[item.number];
      const { token, resource, noCache, expiresAt } = reading;
      expect(item.resource).to.equal(resource);
      expect(PARTITIONS[item.token], 'bytes of its partition').to.equal(PARTITIONS[token]);
      expect(source, 'what its upstream gave it').to.include({ token: item.token, resource, answer: 'good' });
      const age = this.clock - item.at;
      const { cached, collapsed } = served;
      if (resource === 'projects') expect(cached, 'projects are never stored').to.equal(undefined);
      const fromMemory = cached !== undefined && (cached.forwarded === undefined || cached.error !== undefined);
      if (!fromMemory) {
        expect(item.token, 'a load with its own token').to.equal(token);
        if (cached === undefined) return;
        // Loaded for this read, or by a load that was under way when it came.
        expect(source?.settled).to.equal(true);
        if (collapsed !== true) expect(item.at).to.equal(reading.at);
        return;
      }
      const longest = cached.error === undefined ? LIFETIME.staleWhileRevalidateMs : LIFETIME.staleIfErrorMs;
      expect(age, 'age').to.be.below(TTL + longest);
      if (cached.error !== undefined)
        expect(cached.error, 'no denial').to.include({ status: 502, upstreamStatus: undefined });
      if (noCache) expect(age, 'after no-cache').to.be.at.most(LIFETIME.minRefreshMs);
      expect(this.clock, 'before the token ends').to.be.below(expiresAt);
      const denied = this.evictedAt.get(`${token} ${resource}`) ?? 0;
      const own = this.asked.filter((asked) => asked.token === token && asked.resource === resource && asked.landed);
      expect(
        own.some(({ number, at }) => number >= denied && this.clock - at < TTL + longest),
        'its own token was shown the list, after the last denial',
      ).to.equal(true);
      if (PARTITIONS[token] === token) expect(item.number, 'loaded after the last denial').to.be.at.least(denied);
      expect(cached.freshUntil).to.equal(Math.min(item.at + TTL, expiresAt));
    } catch (error) {
      this.broken.push(error);
    }
  }

  land(asked: Asked): void {
    asked.settled = true;
    const { departure, token, resource, number, at, answer } = asked;
    if (answer === 'good') {
      asked.landed = true;
      departure.land([{ token, resource, number, at, filler: 'x'.repeat((number % 5) * 1000) }]);
      return;
    }
    const denied = { credential_rejected: RESOURCES, access_denied: [resource] };
    for (const name of answer in denied ? denied[answer as keyof typeof denied] : []) {
      this.evictedAt.set(`${token} ${name}`, this.asked.length);
    }
    const code: ErrorCode = answer === 'gone' ? 'upstream_refused' : answer;
    departure.reject(new GatewayError(code, answer === 'gone' ? { upstreamStatus: 404 } : {}));
  }

  async step(): Promise<void> {
    await settle();
    if (this.broken.length > 0) throw this.broken[0];
    expect(this.cache.bytes).to.be.at.most(LIMITS.maxBytes);
    expect(this.cache.entries).to.be.at.most(LIMITS.maxEntries);
    const keys = this.open.map(({ token, resource }) => `${token} ${resource}`);
    expect(new Set(keys).size, 'one load at a time').to.equal(keys.length);
    for (const { token, resource } of this.waiting) expect(keys).to.include(`${token} ${resource}`);
  }

  /** Everybody goes or is answered, and then nothing is left. */
  async end(): Promise<void> {
    for (const reading of this.waiting.filter((_reading, index) => index % 2 === 0)) reading.controller.abort();
    await this.step();
    for (const asked of this.open) this.land(asked);
    await this.step();
    expect(this.waiting).to.deep.equal([]);
    expect(this.cache.loading, 'loads that are remembered').to.equal(0);
    // A flight that was left behind would take these readers aboard, and never land.
    this.clock += 10_000;
    const before = this.asked.length;
    for (const token of TOKENS) for (const resource of RESOURCES) this.read(token, resource, false);
    await this.step();
    expect(this.asked.length - before).to.equal(TOKENS.length * RESOURCES.length);
    for (const reading of this.waiting) reading.controller.abort();
    await this.step();
    expect(this.open, 'loads that nobody waits for').to.deep.equal([]);
    expect(this.cache.loading).to.equal(0);
  }
}

type Command = fc.AsyncCommand<object, World>;

const token = fc.constantFrom(...TOKENS);
/** Each may happen at any time; what must hold is checked after it. */
const command = (name: string, run: (world: World) => void): Command => ({
  check: () => true,
  async run(_model, world) {
    run(world);
    await world.step();
  },
  toString: () => name,
});
const pick = <T>(list: readonly T[], index: number): T | undefined => list[index % Math.max(1, list.length)];

const commands: fc.Arbitrary<Command> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc
      .tuple(token, fc.constantFrom(...RESOURCES), fc.boolean())
      .map(([who, what, noCache]) =>
        command(`${who} reads ${what}${noCache ? ', no-cache' : ''}`, (world) => world.read(who, what, noCache)),
      ),
  },
  {
    weight: 5,
    arbitrary: fc.nat({ max: 5 }).map((index) =>
      command(`the upstream answers request ${index}`, (world) => {
        const asked = pick(world.open, index);
        if (asked !== undefined) world.land(asked);
      }),
    ),
  },
  {
    weight: 2,
    arbitrary: fc
      .nat({ max: 5 })
      .map((index) =>
        command(`reader ${index} hangs up`, (world) => pick(world.waiting, index)?.controller.abort(new Error('gone'))),
      ),
  },
  {
    weight: 1,
    arbitrary: fc.tuple(token, fc.constantFrom(...RESOURCES)).map(([who, what]) =>
      command(`${who} leaves ${what} alone, and is back before that is noticed`, (world) => {
        for (const { token: other, resource, controller } of world.waiting) {
          if (other === who && resource === what) controller.abort(new Error('gone'));
        }
        world.read(who, what, false);
      }),
    ),
  },
  {
    weight: 3,
    arbitrary: fc.constantFrom(1, 6, TTL, 299, 360, 3601).map((ms) =>
      command(`${ms} ms pass`, (world) => {
        world.clock += ms;
      }),
    ),
  },
  {
    weight: 3,
    arbitrary: fc
      .tuple(token, fc.constantFrom(...ANSWERS))
      .map(([who, answer]) => command(`${who} is now: ${answer}`, (world) => world.answers.set(who, answer))),
  },
  {
    weight: 1,
    arbitrary: fc.tuple(token, fc.constantFrom(3, 100, 1000)).map(([who, ms]) =>
      command(`the token of ${who} has ${ms} ms left`, (world) => {
        if (!world.expiry.has(who)) world.expiry.set(who, world.clock + ms);
      }),
    ),
  },
);

describe('snapshots and flights, whatever happens in whatever order', () => {
  it(`serve each caller what its upstream gave it, no older than allowed, and leave nothing behind ${SEEDED}`, async function () {
    this.timeout(120_000);
    const sequences = fc.commands([commands], { maxCommands: 30, size: 'max' });
    await fc.assert(
      fc.asyncProperty(sequences, async (sequence) => {
        const world = new World();
        await fc.asyncModelRun(() => ({ model: {}, real: world }), sequence);
        await world.end();
      }),
      { numRuns: SEQUENCES, seed: SEED },
    );
  });
});
