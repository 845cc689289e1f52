import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { atDepth } from '../../support/depth.ts';
import { eventually } from '../../support/eventually.ts';
import { TOKEN_BEGINS, TOKEN_ENDS } from '../../support/load/callers.ts';
import { FAULT_NAMES } from '../../support/load/flapping-platform.ts';
import { type Inside, insideEnvironment, leftovers, lookInside } from '../../support/load/look-inside.ts';
import { CAUSED, startLoad } from '../../support/load/run-load.ts';
import { type Scene, setScene } from '../../support/load/scene.ts';
import type { Ended } from '../../support/process/process.ts';
import { newFolder } from '../../support/process/process.ts';

const MINUTES = Number(process.env['SOAK_MINUTES'] ?? atDepth(0, 1));
const SECONDS = MINUTES > 0 ? MINUTES * 60 : 15;
const TOKENS = MINUTES > 0 ? Math.min(Math.ceil(MINUTES) * 10_000, 100_000) : 2000;
/** Tokens that are used at a time; each for a while, and never again. */
const AT_ONCE = 200;
const ROUNDS = TOKENS / AT_ONCE;
/** Rounds before those, in which all is done for the first time: on a slow machine one is too few. */
const WARM_UP = 2;

/** How often settings change meanwhile: each time, connections to one platform are replaced. */
const CHANGE_MS = 500;

/** How a line of the log begins that nobody is called for. */
const EXPECTED = /^\{"level":"(?:info|warn)",/;

/**
 * Growth in the course of the run: of held memory (heap and buffers after a collection) what is remembered of a token, which is far
 * less than a list of it; of resident memory what V8 and glibc keep of freed memory.
 */
const ROOM = { heldBytes: 1_000_000 + 800 * Math.min(TOKENS, 20_000), residentBytes: 50_000_000 };

describe(`${TOKENS} tokens, ${AT_ONCE} at a time, upstreams that flap and settings that change, for ${SECONDS} s (SOAK_MINUTES for more)`, function () {
  this.timeout((SECONDS * 3 + 180) * 1000);
  let scene: Scene;
  let start: Inside;
  let rest: readonly string[];
  /** Of its JavaScript and buffers, and all of it, after each tenth. */
  const held: number[] = [];
  const resident: number[] = [];
  const counts: Record<string, number> = {};
  const mistakes: string[] = [];
  /** Lines of the log that should not be there, and how many there are in all. */
  const unwanted: string[] = [];
  let lines = 0;
  let changes = 1;
  let applied = 0;
  let cutLine = '';
  let ended: Ended;

  /** Looks through what the log has said since, and forgets it. */
  function sift(text: string): void {
    const all = (cutLine + text).split('\n');
    cutLine = all.pop() ?? '';
    lines += all.length;
    applied += all.filter((line) => line.includes('"msg":"settings changed"')).length;
    unwanted.push(
      ...all.filter((line) => !EXPECTED.test(line) || line.includes(TOKEN_BEGINS) || line.includes(TOKEN_ENDS)),
    );
  }

  async function runRound(): Promise<void> {
    const callers = Array.from({ length: AT_ONCE }, () => randomBytes(8).toString('hex'));
    const load = startLoad({ url: scene.url, callers });
    const until = performance.now() + (SECONDS * 1000) / ROUNDS;
    for (; performance.now() < until; changes += 1) {
      await scene.change(changes);
      await sleep(CHANGE_MS);
    }
    await load.stop();
    mistakes.push(...load.mistakes);
    for (const [word, count] of Object.entries(load.counts)) counts[word] = (counts[word] ?? 0) + count;
    sift(scene.portico.takeStdout());
  }

  before(async () => {
    const folder = await newFolder();
    scene = await setScene(insideEnvironment(folder));
    start = await lookInside(folder);
    // A standard stream is wrapped when it is first used. Its socket has been there from the beginning.
    start = { ...start, active: [...start.active, 'PipeWrap'] };
    scene.flap(true);
    for (let round = 1; round <= WARM_UP + ROUNDS; round += 1) {
      await runRound();
      const measured = round - WARM_UP;
      if (measured < 1 || measured % (ROUNDS / 10) > 0) continue;
      const { heapBytes, residentBytes } = await lookInside(folder); // collects what is garbage
      held.push(heapBytes);
      resident.push(residentBytes);
    }
    scene.flap(false);
    // Longer than anything that Portico keeps for a while: idle connections to its upstreams, 4 s.
    await eventually(async () => {
      rest = leftovers(await lookInside(folder), start);
      return rest.length === 0;
    }, 30_000).catch(() => {});
    ended = await scene.portico.stop();
    sift(ended.stdout);
  });

  it('serves each caller its own lists, or an error of the table', () => {
    expect(mistakes).to.deep.equal([]);
    expect(counts).not.to.have.any.keys('closed', 'wrong');
    expect(applied).to.be.above(ROUNDS);
  });

  it('meets every fault and every outcome', () => {
    expect(scene.faults()).to.include.all.keys(FAULT_NAMES);
    expect(counts).to.include.all.keys('ok', 'not_modified', 'message', 'left', ...CAUSED);
  });

  it('holds no more memory in its last three tenths than in its first three', () => {
    // The least of each: what is on its way when one looks, such as lines of the log, is nothing that is kept.
    const first = Math.min(...held.slice(0, 3));
    expect(Math.min(...held.slice(-3))).to.be.at.most(first + ROOM.heldBytes);
  });

  it('takes no more memory from the system in its second half than in its first', () => {
    const half = resident.length / 2;
    const first = Math.max(...resident.slice(0, half));
    expect(Math.max(...resident.slice(half))).to.be.at.most(first + ROOM.residentBytes);
  });

  it('holds no more sockets and timers afterwards than before', () => {
    expect(rest).to.deep.equal([]);
  });

  it('exits with 0, without an error or token in its output', () => {
    expect({ code: ended.code, stderr: ended.stderr }).to.deep.equal({ code: 0, stderr: '' });
    expect(unwanted.slice(0, 5)).to.deep.equal([]);
    expect(cutLine).to.equal('');
    expect(lines).to.be.above(TOKENS);
  });
});
