import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { callerWith } from '../../../support/authorization/caller.ts';
import { onCleanup } from '../../../support/cleanup.ts';
import { startProcess } from '../../../support/process/process.ts';
import { longestTurn, processorMsOf, TICK_MS } from '../../../support/process/processor-time.ts';
import { CORPUS, MANY_ITEMS } from './corpus.ts';
import { corpusLoaders } from './corpus-loader.ts';

const never = new AbortController().signal;
const COSTLY = fileURLToPath(new URL('./costly-loads.ts', import.meta.url));

describe('the longest turn of the event loop, by the time of the processor', () => {
  /** What it takes to parse a large page of ordinary items: what differs between machines is in it. */
  let unit = 0;
  before(() => {
    const [text] = CORPUS.get(MANY_ITEMS) ?? expect.fail('there is no such page');
    unit = Math.max(...[1, 2, 3, 4, 5].map(() => processorMsOf(() => JSON.parse(text))));
  });

  for (const [what, texts] of CORPUS) {
    it(`is short while a list is loaded whose pages hold ${what}`, async () => {
      const bodies = texts.map((text) => Buffer.from(text));
      const { loaderOf, close } = corpusLoaders();
      onCleanup(close);
      const load = loaderOf((target) => (target.includes('token') ? bodies[1] : bodies[0]) ?? Buffer.of());
      const took = await longestTurn(() => load(callerWith(), never).catch((error: unknown) => error));
      // What is left here is to hash what came and what was made of it, and to hand both over.
      expect(took).to.be.lessThan(3 * unit + TICK_MS);
    });
  }
});

describe('pages that take as much memory as they may', () => {
  it('are not kept while others are waited for: 32 lists of them load within a heap of 256 MB', async () => {
    const { stdout, stderr } = await startProcess(process.execPath, ['--max-old-space-size=256', COSTLY]).ended;
    expect(stderr).to.equal('');
    expect(JSON.parse(stdout)).to.deep.equal({ whole: 32 });
  });
});
