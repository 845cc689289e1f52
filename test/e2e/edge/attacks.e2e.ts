import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { atDepth } from '../../support/depth.ts';
import { startAttackPlatforms } from '../../support/load/attack-platform.ts';
import { type AttackName, attack, FLOODS } from '../../support/load/attacks.ts';
import { TOKEN_BEGINS, TOKEN_ENDS } from '../../support/load/callers.ts';
import { startLoad } from '../../support/load/run-load.ts';
import { linesIn } from '../../support/process/json-lines.ts';
import { boundedSettings } from '../../support/process/limits-of-process.ts';
import type { Ended } from '../../support/process/process.ts';
import { residentBytes } from '../../support/process/resident-bytes.ts';
import { startServing } from '../../support/process/serving.ts';

const SECONDS = atDepth(8, 60);
/** How much longer it may take, on a slow machine, until everything has come about. */
const LONGER_SECONDS = 120;
const HONEST = Array.from({ length: 6 }, (_, index) => `honest-${index}`);
const HEAP = { NODE_OPTIONS: '--max-old-space-size=256' };
/** Its heap, what is cached (128 MiB), unread (16), loaded (32) and held (16), and what Node and its threads take. */
const MAX_RESIDENT_BYTES = 800_000_000;

/** The defaults but for bounds that would take longer than a short run to be reached, and for what hangs. */
function settingsFor(sound: string, hostile: string): string {
  // What is attacked is Portico, not the platform: its breaker, which would answer in its place, never opens.
  const breaker = { failurePercent: 99, minimumCalls: 1000 };
  return JSON.stringify({
    log: { level: 'debug' },
    admin: { enabled: false },
    http: { port: 0, maxUnsentBytes: 16_777_216, maxHeldBodyBytes: 16_777_216 },
    maxWaitingPerCaller: 256,
    maxLoadingBytes: 33_554_432,
    upstreams: {
      // It shares a thread with the attackers.
      sound: { baseUrl: sound, timeoutMs: 60_000 },
      hostile: { baseUrl: hostile, timeoutMs: 120_000, connections: 1000, breaker },
    },
    resources: {
      projects: { upstream: 'sound' },
      tools: { upstream: 'sound' },
      workflows: { upstream: 'hostile', pagination: { kind: 'link' }, maxReadBytes: 16_777_216 },
    },
  });
}

/** What each attack is to be told at last. Those that are missing are told nothing, but cut. */
const ANSWERS: Partial<Record<AttackName, readonly string[]>> = {
  'many searches at once': ['200', '"total":0'],
  'hostile pages': ['502', 'upstream_invalid'],
  'many long lists at once': ['503', 'overloaded'],
};

/** What the log says of bounds, and of pages that a platform sent. */
const LOGGED = [
  '"bound":"http.maxPipelinedWaiting"',
  '"bound":"http.maxUnsentBytes"',
  '"bound":"http.maxHeldBodyBytes"',
  '"bound":"maxWaitingPerCaller"',
  '"bound":"maxReadBytes"',
  '"bound":"maxLoadingBytes"',
  'more values than maxPageValues',
  'larger than maxPageBytes',
  'nests deeper than 1000 levels',
];

type Seen = ReturnType<typeof attack>['seen'];

/** What has not come about yet. */
function unmet(seen: Seen, floodPeak: number, log: string): readonly string[] {
  const answers = Object.entries(ANSWERS).flatMap(([name, words]) =>
    words.filter((word) => seen[name as AttackName][word] === undefined).map((word) => `${name}: ${word}`),
  );
  const floods = floodPeak > 0 ? [] : ['a flood that reaches the platform'];
  return [...answers, ...floods, ...LOGGED.filter((words) => !log.includes(words))];
}

describe(`all attacks at once, for ${SECONDS} s, on a process with a heap of 256 MB`, function () {
  this.timeout((SECONDS + LONGER_SECONDS + 120) * 1000);
  let seen: Seen;
  let floodPeak: () => number;
  let loads: Readonly<Record<'tools' | 'projects', ReturnType<typeof startLoad>>>;
  let resident = 0;
  let ended: Ended;

  before(async () => {
    const { sound, hostile, ...platforms } = await startAttackPlatforms();
    ({ floodPeak } = platforms);
    const { yaml, env } = boundedSettings(settingsFor(sound.url, hostile.url), HEAP);
    const portico = await startServing(yaml, env);
    const { url } = portico;
    // Only tools come from the cache.
    loads = {
      tools: startLoad({ url, callers: HONEST, only: 'tools', pauseMs: 20 }),
      projects: startLoad({ url, callers: HONEST, only: 'projects', pauseMs: 100 }),
    };
    const over = new AbortController();
    const attacks = attack(url, over.signal);
    ({ seen } = attacks);
    for (let second = 0; second < SECONDS + LONGER_SECONDS; second += 1) {
      if (portico.child.exitCode !== null || portico.child.signalCode !== null) break;
      if (second >= SECONDS && unmet(seen, floodPeak(), portico.stdout()).length === 0) break;
      await sleep(1000);
      resident = Math.max(resident, await residentBytes(portico));
    }
    over.abort();
    await attacks.ended;
    // Portico does not read from connections with enough under way, and cannot see that they were closed: what they wait
    // for has to fail first.
    await hostile.close();
    await Promise.all([loads.tools.stop(), loads.projects.stop()]);
    ended = await portico.stop();
  });

  it('ends neither the process nor the connection of an honest caller', () => {
    const { code, signal, stderr } = ended;
    expect({ code, signal, stderr: stderr.slice(0, 500) }).to.deep.equal({ code: 0, signal: null, stderr: '' });
    expect([...loads.tools.mistakes, ...loads.projects.mistakes]).to.deep.equal([]);
  });

  it('answers honest callers with their own lists to the byte, or with overloaded', () => {
    expect(loads.tools.counts).to.have.all.keys('ok');
    const { ok = 0, overloaded = 0, ...others } = loads.projects.counts;
    expect(others).to.deep.equal({});
    expect(ok).to.be.above(SECONDS);
    expect(overloaded).to.be.below(ok / 20);
  });

  it('stops each attack at its documented bound', () => {
    expect(unmet(seen, floodPeak(), ended.stdout)).to.deep.equal([]);
    // None where other attacks take all places of their address.
    expect(floodPeak()).to.be.at.most(FLOODS);
  });

  it('answers no attack with an internal error', () => {
    for (const [name, answers] of Object.entries(seen)) expect(answers, name).not.to.have.any.keys('500');
    const errors = linesIn(ended.stdout).filter(
      ({ level, outcome }) => outcome === 'internal' || level === 'error' || level === 'fatal',
    );
    expect(errors.slice(0, 5)).to.deep.equal([]);
  });

  it('takes no more memory than its bounds together', () => {
    expect(resident).to.be.below(MAX_RESIDENT_BYTES);
  });

  it('logs no token', () => {
    for (const part of [TOKEN_BEGINS, TOKEN_ENDS]) expect(ended.stdout.includes(part)).to.equal(false);
  });
});
