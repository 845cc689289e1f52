import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { atDepth } from '../../support/depth.ts';
import { TOKEN_BEGINS, TOKEN_ENDS } from '../../support/load/callers.ts';
import { type Inside, leftovers, lookInside, settle } from '../../support/load/look-inside.ts';
import { countOutcomes, disagreements, type LogLine, unmet } from '../../support/load/outcomes.ts';
import { type Load, startLoad } from '../../support/load/run-load.ts';
import { type Scene, setScene } from '../../support/load/scene.ts';
import { linesIn } from '../../support/process/json-lines.ts';
import { type Ended, inFolder } from '../../support/process/process.ts';

const CALLERS = 200;
const SECONDS = atDepth(8, 60);
/** Nobody is known to the upstreams at first: a while for that. */
const CALM_MS = 500;
/** The heap may end up this much larger than after the first quarter. Snapshots alone may take 1.8 MB. */
const HEAP_SLACK_BYTES = 8 * 1024 * 1024;
const MAX_RESIDENT_BYTES = 640 * 1024 * 1024;

/** How much longer it may take, on a slow machine, until everything has come about. */
const LONGER_SECONDS = 60;

describe(`${CALLERS} callers while all upstreams flap, for ${SECONDS} s`, function () {
  this.timeout((SECONDS + LONGER_SECONDS + 120) * 1000);
  let scene: Scene;
  let counts: Readonly<Record<string, number>>;
  let missing: readonly string[];
  let disagreed: readonly string[];
  let mistakes: readonly string[];
  let inside: readonly [before: Inside, quarter: Inside, end: Inside];
  let lines: readonly LogLine[];
  let ended: Ended;

  before(async () => {
    await inFolder(async (folder) => {
      scene = await setScene(folder, CALLERS);
      const loads: Load[] = [];
      const runFor = async (name: string, seconds: number, isEnough = () => true): Promise<void> => {
        const load = startLoad({ ...scene, name });
        loads.push(load);
        await sleep(CALM_MS);
        scene.flap(true);
        await sleep(seconds * 1000 - CALM_MS);
        for (let more = 0; more < LONGER_SECONDS && !isEnough(); more += 1) await sleep(1000);
        scene.flap(false);
        await load.stop();
      };
      const before = await lookInside(folder);
      await runFor('first', SECONDS / 4);
      const quarter = await settle(folder, before);
      await runFor('then', (SECONDS * 3) / 4, () => unmet(loads, scene).length === 0);
      inside = [before, quarter, await settle(folder, before)];
      ended = await scene.portico.stop();
      lines = linesIn(ended.stdout);
      counts = countOutcomes(loads);
      missing = unmet(loads, scene);
      mistakes = [...loads, ...scene.platforms].flatMap((each) => each.mistakes);
      disagreed = loads.flatMap((load) => disagreements(load, lines));
    });
  });

  after(() => scene?.close());

  it('serves each caller its own complete, fresh lists, or an error of the table', () => {
    expect(mistakes).to.deep.equal([]);
  });

  it('answers every request whose caller stays connected', () => {
    expect(counts).not.to.have.any.keys('closed', 'wrong');
    expect(counts['ok']).to.be.above(SECONDS * 50);
  });

  it('causes every fault and every outcome', () => {
    expect(missing).to.deep.equal([]);
  });

  it('logs every request once, with the outcome that its caller saw', () => {
    expect(disagreed.slice(0, 20)).to.deep.equal([]);
  });

  it('exits with 0, without an error or token in its output', () => {
    expect({ code: ended.code, stderr: ended.stderr }).to.deep.equal({ code: 0, stderr: '' });
    expect(lines.filter(({ level }) => level !== 'info' && level !== 'warn').slice(0, 5)).to.deep.equal([]);
    for (const part of [TOKEN_BEGINS, TOKEN_ENDS]) expect(ended.stdout.includes(part)).to.equal(false);
  });

  it('holds no more sockets, timers and memory than before', () => {
    const [before, quarter, end] = inside;
    expect(leftovers(quarter, before)).to.deep.equal([]);
    expect(leftovers(end, before)).to.deep.equal([]);
    expect(end.heapBytes - quarter.heapBytes).to.be.below(HEAP_SLACK_BYTES);
    expect(end.residentBytes).to.be.below(MAX_RESIDENT_BYTES);
  });
});

describe('SIGTERM in the middle of load', function () {
  this.timeout(120_000);
  let scene: Scene | undefined;

  after(() => scene?.close());

  it('loses no accepted request, and the process exits with 0', async () => {
    await inFolder(async (folder) => {
      scene = await setScene(folder, CALLERS);
      const { portico } = scene;
      const load = startLoad({ ...scene, name: 'drained' });
      await sleep(CALM_MS);
      scene.flap(true);
      await sleep(3000);
      portico.child.kill('SIGTERM');
      // What had been sent whole before the signal, over connections that Portico is known to have accepted. Some callers
      // are about to hang up.
      const owed = load.owed();
      await load.wither();
      const { code, stdout, stderr } = await portico.ended;

      expect({ code, stderr }).to.deep.equal({ code: 0, stderr: '' });
      expect(load.mistakes).to.deep.equal([]);
      expect(owed.length).to.be.above(0);
      expect(owed.filter((id) => load.fates.get(id)?.kind === 'closed')).to.deep.equal([]);
      // Whatever else was not answered has not brought a single byte, so that it may be sent again elsewhere.
      const closed = [...load.fates.values()].filter((fate) => fate.kind === 'closed');
      expect(closed.filter(({ bytes }) => bytes > 0)).to.deep.equal([]);
      // Nor has Portico begun it: what it begins is in its log, and the caller has been given just that answer.
      const lines = linesIn(stdout);
      expect(disagreements(load, lines).slice(0, 20)).to.deep.equal([]);
      expect(lines.at(-1)).to.include({ msg: 'drained' });
    });
  });
});
