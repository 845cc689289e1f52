import { readFile } from 'node:fs/promises';
import { expect } from 'chai';
import fc from 'fast-check';
import { GatewayError } from '../../../../src/core/kernel/errors.ts';
import type { Pagination } from '../../../../src/core/upstream/paging/page-address.ts';
import { atDepth } from '../../../support/depth.ts';
import { SEEDED } from '../../../support/seed.ts';
import type { GeneratedPlatform, Shown } from './generated-platform.ts';
import { childrenOf, joinedItemsOf, joinedOutcomeOf, keptOf, outcomeOf } from './generated-read.ts';
import { anyJoin, anyRead, fitting, type GeneratedRead } from './generated-settings.ts';
import { NOT_DETECTABLE, notDetectable } from './not-detectable.ts';

const ANY = atDepth(500, 8000);
const SILENT = atDepth(200, 2000);
const JOINED = atDepth(120, 1200);
const FITTING = atDepth(250, 4000);

/** Adds a read to those that came to the platform's list, or to an error; throws for any other list. */
async function check(read: GeneratedRead, outcomes: { whole: number; refused: number }): Promise<void> {
  compare(distinct(await outcomeOf(read), read), keptOf(read), outcomes);
}

/** Leaves out what is served twice. Where ids may repeat, an item that differs from reply to reply is another one. */
function distinct(outcome: unknown, { duplicateIds, platform }: GeneratedRead): unknown {
  if (duplicateIds !== 'allow' || !platform.isVolatile || !Array.isArray(outcome)) return outcome;
  return [...new Set(outcome.map((item) => JSON.stringify(item)))].map((text) => JSON.parse(text));
}

function compare(outcome: unknown, items: readonly unknown[], outcomes: { whole: number; refused: number }): void {
  if (outcome instanceof GatewayError) {
    expect(outcome.code).to.be.oneOf(['upstream_invalid', 'upstream_refused']);
    outcomes.refused += 1;
  } else {
    expect(outcome).to.deep.equal(items);
    outcomes.whole += 1;
  }
}

/** The same, where the platform shows none of the signs but a count of each page, and a link back. */
const silent = anyRead.map((read) => {
  const shown = read.platform.shown.filter((sign: Shown) => sign === 'count' || sign === 'prev');
  return { ...read, platform: { ...read.platform, shown } };
});

/** The settings name a token that may be none, to a platform that replies to such a one with an empty page. */
const misread = anyRead
  .filter(({ pagination }) => pagination.kind === 'token')
  .map((read): GeneratedRead => {
    const platform: GeneratedPlatform = {
      ...read.platform,
      onNonsense: 'is empty',
      way: 'token',
      refusesUnknown: false,
    };
    const { placeParam: tokenParam, sizeParam } = platform;
    return { ...read, platform, pagination: { ...read.pagination, tokenParam, sizeParam } as Pagination };
  });

describe(`a list of a generated platform ${SEEDED}`, () => {
  for (const [reads, arbitrary, what] of [
    [ANY, anyRead, 'platforms that show signs of more, or none'],
    [SILENT, silent, 'platforms that say neither a total nor that there is more'],
    [SILENT, misread, 'platforms that may not understand a token'],
  ] as const) {
    it(`is whole or an error, under any settings, in ${reads} reads of ${what}`, async function () {
      this.timeout(120_000);
      const outcomes = { whole: 0, refused: 0 };
      const detectable = arbitrary.filter((read) => notDetectable(read) === undefined);
      await fc.assert(
        fc.asyncProperty(detectable, (read) => check(read, outcomes)),
        { numRuns: reads },
      );
      expect(outcomes.whole).to.be.greaterThan(reads / 20);
      expect(outcomes.refused).to.be.greaterThan(reads / 20);
    });
  }

  it(`is whole or an error below parents, in ${JOINED} reads`, async function () {
    this.timeout(120_000);
    const outcomes = { whole: 0, refused: 0 };
    const detectable = anyJoin.filter((join) =>
      [join.parents, ...childrenOf(join).map(([, read]) => read)].every((read) => notDetectable(read) === undefined),
    );
    await fc.assert(
      fc.asyncProperty(detectable, async (join) => {
        compare(distinct(await joinedOutcomeOf(join), join.child), joinedItemsOf(join), outcomes);
      }),
      { numRuns: JOINED },
    );
    expect(outcomes.whole).to.be.greaterThan(JOINED / 20);
    expect(outcomes.refused).to.be.greaterThan(JOINED / 20);
  });

  it(`is whole under the settings that fit, in ${FITTING} reads`, async function () {
    this.timeout(120_000);
    await fc.assert(
      fc.asyncProperty(fitting, async (read) => {
        expect(await outcomeOf(read)).to.deep.equal(keptOf(read));
      }),
      { numRuns: FITTING },
    );
  });
});

describe('a short list that is not detectable', () => {
  it('is so for the reasons that the decision lists, and for no other', async () => {
    const decision = await readFile('docs/decisions/0004-complete-or-an-error.md', 'utf8');
    const [, section = ''] = decision.split('**Not detectable.**');
    const reasons = [...section.matchAll(/^- \*(.+)\*:/gm)].map(([, reason]) => reason);
    expect(reasons).to.deep.equal(Object.keys(NOT_DETECTABLE));
  });
});
