import { expect } from 'chai';
import type { ErrorCode } from '../../../../../src/core/kernel/error-table.ts';
import { GatewayError } from '../../../../../src/core/kernel/errors.ts';
import type { Load } from '../../../../../src/core/reads/snapshots/load.ts';
import { createMemoryRedis, type MemoryConnection } from '../../../../support/fleet/memory-redis.ts';
import { callerOf, type PendingLoad, settle, text } from '../fake-loader.ts';
import { RESOURCES } from '../replica.ts';
import { createModelReplica, LIFETIME, LIMITS, type ModelReplica, TTL } from './replica.ts';

/** Tokens, and whose snapshots they are served: bob and carol share theirs. */
const CACHE_SCOPES: Readonly<Record<string, string>> = { alice: 'alice', bob: 'team', carol: 'team' };
export const TOKENS = Object.keys(CACHE_SCOPES);

/** What an upstream does for a token. It makes up its mind when it is asked, and answers when it likes. */
export const ANSWERS = [
  'good',
  'upstream_failed',
  'upstream_invalid',
  'credential_rejected',
  'access_denied',
  'gone',
] as const;
export type Answer = (typeof ANSWERS)[number];

/** One load at the upstream, and what it will answer. */
interface Asked {
  readonly pendingLoad: PendingLoad;
  readonly replica: number;
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
  readonly replica: number;
  readonly token: string;
  readonly resource: string;
  readonly noCache: boolean;
  /** When the reader's token ends. */
  readonly expiresAt: number;
  readonly at: number;
  readonly controller: AbortController;
  done: boolean;
}

/** Where chai would take longer than all that it is to judge. */
function must(holds: boolean, what: string): void {
  if (!holds) throw new Error(`must ${what}`);
}

/** Replicas over an upstream of the test's, with a store between them; and all that must always hold. */
export class World {
  clock = 1_000_000;
  readonly asked: Asked[] = [];
  readonly readings: Reading[] = [];
  /** What the upstream does for each token now; good unless told otherwise. */
  readonly answers = new Map<string, Answer>();
  /** When tokens end. */
  readonly expiry = new Map<string, number>();
  readonly store = createMemoryRedis(() => this.clock);
  readonly connections: MemoryConnection[] = [];
  readonly replicas: ModelReplica[];
  /** What did not hold, told after each step: a throw in a callback would be lost. */
  readonly broken: unknown[] = [];
  /** Number of the next load when a denial arrived, by token and resource, as each replica knows. Nothing older may be served. */
  private readonly denied: Map<string, number>[];
  private readonly cut = new Set<number>();

  /** Without options, one replica that shares nothing. */
  constructor(options?: { readonly replicas: number }) {
    const now = () => this.clock;
    const { replicas = 1 } = options ?? {};
    this.denied = Array.from({ length: replicas }, () => new Map());
    this.replicas = this.denied.map((_, replica) => {
      const connection = this.store.connect();
      this.connections.push(connection);
      const onLoad = (pendingLoad: PendingLoad, resource: string) => this.depart(pendingLoad, resource, replica);
      return createModelReplica(now, onLoad, options && connection);
    });
  }

  private depart(pendingLoad: PendingLoad, resource: string, replica: number): void {
    const token = pendingLoad.caller.credentialKey;
    const number = this.asked.length;
    const answer = this.answers.get(token) ?? 'good';
    const at = this.clock;
    const asked = { pendingLoad, replica, token, resource, answer, number, at, settled: false, landed: false };
    pendingLoad.signal.addEventListener('abort', () => {
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

  read(replica: number, token: string, resource: string, noCache: boolean): void {
    const controller = new AbortController();
    const expiresAt = this.expiry.get(token) ?? Number.POSITIVE_INFINITY;
    const reading: Reading = { replica, token, resource, noCache, expiresAt, at: this.clock, controller, done: false };
    this.readings.push(reading);
    const caller = callerOf(token, { expiresAt, cacheScope: CACHE_SCOPES[token] ?? token });
    const source = this.replicas[replica]?.[resource as 'tools'];
    if (source === undefined) throw new Error('no such resource');
    const answer = source.read(caller, { signal: controller.signal, noCache });
    answer.then(
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

  private check(reading: Reading, served: Load): void {
    try {
      const [item] = JSON.parse(text(served));
      const source = this.asked[item.number];
      const { replica, token, resource, noCache, expiresAt } = reading;
      expect(item.resource).to.equal(resource);
      expect(CACHE_SCOPES[item.token], 'bytes of its cache scope').to.equal(CACHE_SCOPES[token]);
      expect(source, 'what its upstream gave it').to.include({ token: item.token, resource, answer: 'good' });
      const age = this.clock - item.at;
      const { cached, collapsed, fromSharedCache } = served;
      if (resource === 'projects') expect(cached, 'projects are never stored').to.equal(undefined);
      if (fromSharedCache) expect(item.token, 'a copy of its own').to.equal(token);
      const fromMemory = cached !== undefined && (cached.forwarded === undefined || cached.error !== undefined);
      if (!fromMemory) {
        expect(item.token, 'a load with its own token').to.equal(token);
        expect(source?.replica).to.equal(replica);
        if (cached === undefined) return;
        // Loaded for this read, or by a load that was under way when it came.
        expect(source?.settled).to.equal(true);
        if (collapsed !== true) expect(item.at).to.be.at.least(reading.at);
        return;
      }
      const longest = cached.error === undefined ? LIFETIME.staleWhileRevalidateMs : LIFETIME.staleIfErrorMs;
      expect(age, 'age').to.be.below(TTL + longest);
      if (cached.error !== undefined)
        expect(cached.error, 'a failure of the upstream').to.include({
          code: 'upstream_failed',
          countsForBreaker: true,
        });
      if (noCache) expect(age, 'after no-cache').to.be.at.most(LIFETIME.minRefreshMs);
      expect(this.clock, 'before the token ends').to.be.below(expiresAt);
      const denied = this.denied[replica]?.get(`${token} ${resource}`) ?? 0;
      const own = this.asked.filter((asked) => asked.token === token && asked.resource === resource && asked.landed);
      expect(
        own.some(({ number, at }) => number >= denied && this.clock - at < TTL + longest),
        'its own token was shown the list, after the last denial',
      ).to.equal(true);
      if (CACHE_SCOPES[token] === token || fromSharedCache) {
        expect(item.number, 'loaded after the last denial').to.be.at.least(denied);
      }
      expect(cached.freshUntil).to.equal(Math.min(item.at + TTL, expiresAt));
    } catch (error) {
      this.broken.push(error);
    }
  }

  finish(asked: Asked): void {
    asked.settled = true;
    const { pendingLoad, replica, token, resource, number, at, answer } = asked;
    if (answer === 'good') {
      asked.landed = true;
      pendingLoad.finish([{ token, resource, number, at, filler: 'x'.repeat((number % 5) * 1000) }]);
      return;
    }
    const denials = { credential_rejected: RESOURCES, access_denied: [resource] };
    const names = answer in denials ? denials[answer as keyof typeof denials] : [];
    for (const name of names) this.deny(replica, `${token} ${name}`);
    const code: ErrorCode = answer === 'gone' ? 'upstream_refused' : answer;
    pendingLoad.reject(new GatewayError(code, { countsForBreaker: code === 'upstream_failed' }));
  }

  /** A replica knows of a denial at once. The others do if both reach Redis. */
  private deny(replica: number, what: string): void {
    this.denied[replica]?.set(what, this.asked.length);
    if (this.cut.has(replica)) return;
    for (const [other, known] of this.denied.entries()) {
      if (!this.cut.has(other)) known.set(what, this.asked.length);
    }
  }

  cutOff(replica: number): void {
    this.cut.add(replica);
    this.connections[replica]?.cut();
  }

  mend(replica: number): void {
    if (this.cut.delete(replica)) this.connections[replica]?.mend();
  }

  flush(): void {
    this.store.flush();
  }

  /** Has under one name what was put under another, or another bit in it. */
  tamper(index: number): void {
    const held = [...this.store.held];
    const [[name, own], [, other]] = [
      held[index % held.length] ?? ['', Buffer.of()],
      held[(index + 1) % held.length] ?? [],
    ];
    if (name === '') return;
    const altered = Buffer.from(other === undefined || other === own ? own : other);
    if (other === own) altered[index % altered.length] = (altered[index % altered.length] ?? 0) ^ 1;
    this.store.tamper(name, altered);
  }

  /** Until nothing goes on by itself any more. */
  private async quiet(): Promise<void> {
    for (let quiet = 0; quiet < 2; quiet += 1) {
      await settle();
      if (this.replicas.some(({ isBusy }) => isBusy())) quiet = -1;
    }
  }

  async step(): Promise<void> {
    if (this.replicas.length > 1) await this.quiet();
    else await settle();
    if (this.broken.length > 0) throw this.broken[0];
    for (const { cache } of this.replicas) {
      must(cache.bytes <= LIMITS.maxBytes && cache.entries <= LIMITS.maxEntries, 'keep its bounds');
    }
    const { open } = this;
    const loading = new Set(open.map(({ replica, token, resource }) => `${replica} ${token} ${resource}`));
    must(loading.size === open.length, 'load one at a time');
    for (const { replica, token, resource } of this.waiting) {
      must(loading.has(`${replica} ${token} ${resource}`), 'load for who waits');
    }
  }

  /** Everybody goes or is answered, and then nothing is left. */
  async end(): Promise<void> {
    for (const reading of this.waiting.filter((_reading, index) => index % 2 === 0)) reading.controller.abort();
    await this.step();
    // Nobody waits for a store that cannot be asked.
    for (const replica of this.replicas.keys()) this.cutOff(replica);
    for (let rounds = 0; this.open.length > 0; rounds += 1) {
      must(rounds < 20, 'come to an end');
      for (const asked of this.open) this.finish(asked);
      await this.step();
    }
    expect(this.waiting).to.deep.equal([]);
    expect(this.loading, 'loads that are remembered').to.equal(0);
    // A flight that was left behind would take these readers in, and never end.
    this.clock += 10_000;
    const before = this.asked.length;
    for (const replica of this.replicas.keys()) {
      for (const token of TOKENS) for (const resource of RESOURCES) this.read(replica, token, resource, false);
    }
    await this.step();
    expect(this.asked.length - before).to.equal(this.replicas.length * TOKENS.length * RESOURCES.length);
    for (const reading of this.waiting) reading.controller.abort();
    await this.step();
    expect(this.open, 'loads that nobody waits for').to.deep.equal([]);
    expect(this.loading).to.equal(0);
  }

  private get loading(): number {
    return this.replicas.reduce((total, { cache }) => total + cache.loading, 0);
  }
}
