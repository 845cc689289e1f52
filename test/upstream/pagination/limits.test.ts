import { expect } from 'chai';
import { itemsUpTo, KINDS, readAll, simulate } from './platform.ts';

const TOO_MANY_ITEMS = { code: 'upstream_invalid', reason: 'the list has more items than maxItems' };
const TOO_MANY_PAGES = { code: 'upstream_invalid', reason: 'the list has more pages than maxPages' };

describe('the limits of a read', () => {
  for (const kind of KINDS) {
    const platformOf = () => simulate({ kind, items: itemsUpTo(25), size: 10 });
    /** Without a total, an empty page more is asked for. */
    const pages = kind === 'offset' || kind === 'page' ? 4 : 3;

    it(`let through what just keeps them, by ${kind}`, async () => {
      expect(await readAll(platformOf(), { maxItems: 25, maxPages: pages })).to.have.length(25);
    });

    it(`refuse one item more, by ${kind}`, async () => {
      const error = await readAll(platformOf(), { maxItems: 24 }).catch((reason) => reason);
      expect(error).to.include(TOO_MANY_ITEMS);
    });

    it(`refuse one page more without asking for it, by ${kind}`, async () => {
      const platform = platformOf();
      const error = await readAll(platform, { maxPages: pages - 1 }).catch((reason) => reason);
      expect(error).to.include(TOO_MANY_PAGES);
      expect(platform.targets.length).to.be.lessThan(pages);
    });
  }

  it('are known after one page where that tells the total', async () => {
    for (const kind of ['offset with total', 'page with total'] as const) {
      for (const [limit, failure] of [
        [{ maxItems: 24 }, TOO_MANY_ITEMS],
        [{ maxPages: 2 }, TOO_MANY_PAGES],
      ] as const) {
        const platform = simulate({ kind, items: itemsUpTo(25), size: 10 });
        expect(await readAll(platform, limit).catch((reason) => reason)).to.include(failure);
        expect(platform.targets).to.have.length(1);
      }
    }
  });
});
