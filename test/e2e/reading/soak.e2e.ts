import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { atDepth } from '../../support/depth.ts';
import { TOKEN_BEGINS, TOKEN_ENDS } from '../../support/load/callers.ts';
import { type Inside, leftovers, lookInside, settle } from '../../support/load/look-inside.ts';
import { countOutcomes, unmet } from '../../support/load/outcomes.ts';
import { startRpcCallers } from '../../support/load/rpc-callers.ts';
import { startLoad } from '../../support/load/run-load.ts';
import { type Scene, setScene } from '../../support/load/scene.ts';
import { type Ended, inFolder } from '../../support/process/process.ts';

const MINUTES = Number(process.env['SOAK_MINUTES'] ?? atDepth(0, 1));
const SECONDS = MINUTES > 0 ? MINUTES * 60 : 20;
const TOKENS = MINUTES > 0 ? Math.min(Math.ceil(MINUTES) * 10_000, 100_000) : 2000;
/** Tokens that are used at a time; each for a while, and never again. */
const AT_ONCE = 200;
/** Callers of MCP among them. */
const OF_MCP = 20;
const ROUNDS = TOKENS / AT_ONCE;
/** Rounds before those, in which all is done for the first time: on a slow machine one is too few. */
const WARM_UP = 2;

/** How a line of the log begins that nobody is called for. */
const EXPECTED = /^\{"level":"(?:info|warn)",/;

/**
 * Growth in the course of the run: of held memory (heap and buffers after a collection) less for each token than a key of it takes, of
 * resident memory what V8 and glibc keep of freed memory.
 */
const ROOM = { heldBytes: 1_000_000 + 10 * TOKENS, residentBytes: 50_000_000 };

describe(`${TOKENS} tokens, ${AT_ONCE} at a time, and upstreams that flap, for ${SECONDS} s (SOAK_MINUTES for more)`, function () {
  this.timeout((SECONDS * 3 + 180) * 1000);
  let scene: Scene;
  let start: Inside;
  let end: Inside;
  /** Of its JavaScript and buffers, and all of it, after each tenth. */
  const held: number[] = [];
  const resident: number[] = [];
  const counts: Record<string, number> = {};
  const mistakes: string[] = [];
  /** Lines of the log that should not be there, and how many there are in all. */
  const unwanted: string[] = [];
  let lines = 0;
  let cutLine = '';
  let ended: Ended;

  function add(more: Readonly<Record<string, number>>): void {
    for (const [word, count] of Object.entries(more)) counts[word] = (counts[word] ?? 0) + count;
  }

  /** Looks through what the log has said since, and forgets it. */
  function sift(text: string): void {
    const all = (cutLine + text).split('\n');
    cutLine = all.pop() ?? '';
    lines += all.length;
    unwanted.push(
      ...all.filter((line) => !EXPECTED.test(line) || line.includes(TOKEN_BEGINS) || line.includes(TOKEN_ENDS)),
    );
  }

  async function runRound(round: number): Promise<void> {
    const callers = scene.callers.slice(round * AT_ONCE, (round + 1) * AT_ONCE);
    const load = startLoad({ ...scene, callers, name: `round-${round}` });
    const rpc = startRpcCallers({ url: scene.url, callers: callers.slice(0, OF_MCP) });
    await sleep((SECONDS * 1000) / ROUNDS);
    await Promise.all([load.stop(), rpc.stop()]);
    mistakes.push(...load.mistakes, ...rpc.mistakes);
    add(countOutcomes(load));
    add(rpc.counts);
    sift(scene.portico.takeStdout());
  }

  before(async () => {
    await inFolder(async (folder) => {
      scene = await setScene(folder, TOKENS + WARM_UP * AT_ONCE);
      start = await lookInside(folder);
      // A standard stream is wrapped when it is first used. Its socket has been there from the beginning.
      start = { ...start, active: [...start.active, 'PipeWrap'] };
      await scene.fill();
      scene.flap(true);
      for (let round = 1; round <= WARM_UP + ROUNDS; round += 1) {
        await runRound(round - 1);
        const measured = round - WARM_UP;
        if (measured < 1 || measured % (ROUNDS / 10) > 0) continue;
        const { heapBytes, residentBytes } = await lookInside(folder); // collects what is garbage
        held.push(heapBytes);
        resident.push(residentBytes);
      }
      scene.flap(false);
      end = await settle(folder, start);
      ended = await scene.portico.stop();
      sift(ended.stdout);
    });
    if (process.env['SOAK_REPORT'])
      process.stderr.write(`${JSON.stringify({ counts, held, resident, faults: scene.faults() })}\n`);
  });

  after(() => scene?.close());

  it('serves each caller its own lists, or an error of the table', () => {
    const ofPlatforms = scene.platforms.flatMap((each) => each.mistakes);
    // The tokens that nobody has.
    expect(ofPlatforms.filter((mistake) => mistake !== "a request of nobody's")).to.deep.equal([]);
    expect(mistakes).to.deep.equal([]);
    expect(counts).not.to.have.any.keys('closed', 'wrong');
    expect(counts).to.include.all.keys('listed', 'failed');
  });

  it('meets every fault and every outcome', () => {
    expect(unmet(counts, scene)).to.deep.equal([]);
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
    expect(leftovers(end, start)).to.deep.equal([]);
  });

  it('exits with 0, without an error or token in its output', () => {
    expect({ code: ended.code, stderr: ended.stderr }).to.deep.equal({ code: 0, stderr: '' });
    expect(unwanted.slice(0, 5)).to.deep.equal([]);
    expect(cutLine).to.equal('');
    expect(lines).to.be.above(TOKENS);
  });
});
