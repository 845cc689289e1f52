import { expect } from 'chai';
import { createEvictions } from '../../../../src/capabilities/shared-cache/redis/evictions.ts';
import type { Answer, Call } from '../../../../src/capabilities/shared-cache/redis/link.ts';
import { createNaming } from '../../../../src/capabilities/shared-cache/redis/names.ts';
import { settle } from '../../../core/reads/snapshots/departures.ts';

type Script = Call['script']['name'];

const DONE: Answer = { said: 'ok', more: [] };
const AWAY: Answer = { said: 'unavailable' };

/** Evictions before a store that does what a test says. */
function scene({ cluster = false, maxWaiting = 1000 } = {}) {
  const asked: Call[] = [];
  const answers: Partial<Record<Script, Answer>> = { evict: DONE, tell: DONE, end: DONE };
  /** What is asked waits until the test lets it go on. */
  let held: (() => void)[] | undefined;
  let most = 0;
  let underWay = 0;
  const ask = async (call: Call): Promise<Answer> => {
    asked.push(call);
    underWay += 1;
    most = Math.max(most, underWay);
    const { promise, resolve } = Promise.withResolvers<void>();
    if (held === undefined) resolve();
    else held.push(resolve);
    await promise;
    underWay -= 1;
    return answers[call.script.name] ?? AWAY;
  };
  const naming = createNaming('portico', cluster);
  let buckets = 0;
  const counted = {
    ...naming,
    bucketOf(name: string) {
      buckets += 1;
      return naming.bucketOf(name);
    },
  };
  const evictions = createEvictions({ naming: counted, ask, events: {}, maxWaiting });
  return {
    ...{ evictions, naming, answers, ask },
    asked: () => asked.splice(0).map(({ script: { name }, args }) => (name === 'tell' ? `tell ${args[1]}` : name)),
    atOnce: () => most,
    buckets: () => buckets,
    hold: () => {
      held = [];
    },
    async release() {
      for (const next of held?.splice(0) ?? []) next();
      await settle();
    },
    /** Has others tell this, of which these are not heard yet. */
    others(told: number, last: string, unheard: readonly unknown[] = [], life = 'life') {
      answers.hear = { said: 'ok', more: [life, told, last, unheard] };
    },
  };
}

const entry = (id: string, names: string) => [id, ['from', 'another', 'names', Buffer.from(names)]];
const numbers = (count: number) => Array.from({ length: count }, (_, index) => `${index}`);

describe('evictions on their way to the store', () => {
  it('are told one step at a time, and those that come meanwhile in the next', async () => {
    const { evictions, hold, release, asked, atOnce } = scene();
    hold();
    const first = evictions.evict(['a']);
    const later = [evictions.evict(['b']), evictions.evict(['c'])];
    for (let step = 0; step < 5; step += 1) await release();
    await Promise.all([first, ...later]);
    expect([asked(), atOnce()]).to.deep.equal([['evict', 'tell a', 'evict', 'tell b c'], 1]);
  });

  it('are told again where the same name comes while it is being told', async () => {
    const { evictions, hold, release, asked } = scene();
    hold();
    const first = evictions.evict(['a']);
    await release();
    const again = evictions.evict(['a']);
    for (let step = 0; step < 4; step += 1) await release();
    await Promise.all([first, again]);
    expect(asked()).to.deep.equal(['evict', 'tell a', 'evict', 'tell a']);
  });

  for (const [script, before] of [
    ['evict', ['evict']],
    ['tell', ['evict', 'tell a']],
  ] as const) {
    it(`wait where ${script} fails, and keep the look from being good until they are done`, async () => {
      const { evictions, answers, ask, asked, others } = scene();
      others(0, '0-0');
      answers[script] = { said: 'failed' };
      await evictions.evict(['a']);
      expect(await evictions.look(ask)).to.equal(false);
      expect(asked()).to.deep.equal([...before, ...before]);
      answers[script] = DONE;
      expect(await evictions.look(ask)).to.equal(true);
      expect(asked()).to.deep.equal(['evict', 'tell a', 'hear']);
      expect(await evictions.look(ask)).to.equal(true);
      expect(asked()).to.deep.equal(['hear']);
    });
  }

  it('that are too many are forgotten, and end what was put in all places until that is done', async () => {
    const { evictions, naming, answers, ask, asked, others } = scene({ cluster: true, maxWaiting: 10 });
    others(0, '0-0');
    answers.end = AWAY;
    await evictions.evict(numbers(11));
    expect(await evictions.look(ask)).to.equal(false);
    answers.end = DONE;
    asked();
    expect(await evictions.look(ask)).to.equal(true);
    expect(asked()).to.deep.equal([...naming.lives.map(() => 'end'), 'hear']);
  });

  it('are sought among some only for one step, where names stand in many places', async () => {
    const { evictions, naming, answers, buckets } = scene({ cluster: true, maxWaiting: 100_000 });
    answers.evict = AWAY;
    const other = numbers(10_000).filter((name) => naming.bucketOf(name) !== naming.bucketOf('first'));
    expect(other.length).to.be.above(5000);
    await evictions.evict(['first', ...other]);
    expect(buckets()).to.be.at.most(2000);
  });
});

describe('evictions that others tell', () => {
  function listening() {
    const it = scene();
    const heard: unknown[] = [];
    const stop = it.evictions.onEvicted((names) => heard.push(names));
    return { ...it, heard, stop };
  }

  it('are heard from the first look on, until nobody listens any more', async () => {
    const { evictions, ask, others, heard, stop } = listening();
    others(5, '5-0', [entry('5-0', 'before')]);
    await evictions.look(ask);
    expect(heard).to.deep.equal([]);
    others(6, '6-0', [entry('6-0', 'a b')]);
    await evictions.look(ask);
    expect(heard).to.deep.equal([['a', 'b']]);
    stop();
    others(7, '7-0', [entry('7-0', 'c')]);
    await evictions.look(ask);
    expect(heard).to.deep.equal([['a', 'b']]);
  });

  it('may have been missed where more were told than there are, or in another life', async () => {
    const { evictions, ask, others, heard } = listening();
    others(5, '5-0');
    await evictions.look(ask);
    others(7, '7-0', [entry('7-0', 'a')]);
    await evictions.look(ask);
    others(7, '7-0', [], 'another life');
    await evictions.look(ask);
    others(7, '7-0', [], 'another life');
    await evictions.look(ask);
    expect(heard).to.deep.equal(['unknown', 'unknown']);
  });
});
