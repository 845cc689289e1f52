import { expect } from 'chai';
import fc from 'fast-check';
import { createLoader } from '../../src/catalogue/loader.ts';
import { GatewayError } from '../../src/kernel/errors.ts';
import { createMapper } from '../../src/mapping/mapper.ts';
import { createPageParser } from '../../src/mapping/page.ts';
import { createLoading } from '../../src/upstream/loading.ts';
import type { ListRequest } from '../../src/upstream/pagination/list-read.ts';
import type { Pagination } from '../../src/upstream/pagination/pagination.ts';
import { callerWith } from '../support/authorization/caller.ts';
import { SEEDED } from '../support/seed.ts';
import {
  COUNTING,
  fittingSettings,
  type GeneratedPlatform,
  itemsOf,
  platforms,
  replyTo,
  settingsFor,
} from './generated-platform.ts';
import { readAtOnce } from './read-at-once.ts';

const PLATFORMS = 4000;

const plain = { default: '', values: {}, format: 'none' } as const;
const map = createMapper({
  fields: { id: { ...plain, from: 'id' }, name: { ...plain, from: 'name' } },
  required: ['id', 'name'],
  invalidItems: 'fail',
});
const parse = createPageParser({ items: 'items' });
const loading = createLoading({ maxBytes: 1_000_000 });

/** What a read of this platform comes to under these settings: its items, or the error. */
async function read(platform: GeneratedPlatform, pagination: Pagination, query: Record<string, string> = {}) {
  const list: ListRequest = {
    baseUrl: 'https://platform.example',
    path: '/list',
    query,
    pagination,
    maxItems: 1000,
    maxPages: 100,
    maxNextBytes: 4096,
  };
  const load = createLoader({
    resource: 'things',
    upstream: {
      name: 'platform',
      async get({ target, read: readPage }) {
        const reply = replyTo(platform, target);
        if (reply === undefined) throw new GatewayError('upstream_refused', { upstreamStatus: 400 });
        return { page: await readPage(Buffer.from(JSON.stringify(reply.body)), reply.headers), headers: reply.headers };
      },
      close: async () => {},
    },
    timeoutMs: 60_000,
    events: {},
    now: Date.now,
    list,
    maxReadBytes: 1_000_000,
    loading,
    readPage: readAtOnce({ list, maxPageValues: 10_000, parse, map }),
  });
  try {
    const { snapshot } = await load(callerWith(), new AbortController().signal);
    return JSON.parse(snapshot.bytes.toString()) as unknown[];
  } catch (error) {
    if (error instanceof GatewayError) return error;
    throw error;
  }
}

/**
 * Whether what the settings send means something else to the platform, which takes it all the same: then the read may begin
 * elsewhere, skip items or end early, and only who tells how many there are can show that (docs/decisions/0022).
 */
function isMistaken(
  { way, placeParam, firstPage, onNonsense, shown }: GeneratedPlatform,
  pagination: Pagination,
): boolean {
  switch (pagination.kind) {
    case 'none':
      return false;
    case 'token':
    case 'link':
      // A flag tells that the first page was not the last, though an empty one came behind it.
      return onNonsense === 'is empty' && !shown.includes('has_more') && !shown.includes('isLast');
    case 'offset':
      return pagination.offsetParam === placeParam && way !== 'offset';
    case 'page': {
      if (pagination.pageParam !== placeParam) return false;
      return way !== 'page' || (pagination.firstPage !== firstPage && !shown.includes('prev'));
    }
  }
}

const tellsHowMany = ({ shown }: GeneratedPlatform) => COUNTING.some((sign) => shown.includes(sign));

const wrong = platforms
  .filter(({ shown }) => shown.some((sign) => sign !== 'prev' && sign !== 'count'))
  .chain((platform) => fc.tuple(fc.constant(platform), settingsFor(platform)))
  .filter(([platform, pagination]) => tellsHowMany(platform) || !isMistaken(platform, pagination));

describe(`a list of a platform that shows a sign of more ${SEEDED}`, () => {
  it(`is whole or an error, under any settings, of ${PLATFORMS} platforms`, async function () {
    this.timeout(120_000);
    const outcomes = { whole: 0, refused: 0 };
    await fc.assert(
      fc.asyncProperty(wrong, async ([platform, pagination]) => {
        const result = await read(platform, pagination);
        if (result instanceof GatewayError) {
          expect(result.code).to.be.oneOf(['upstream_invalid', 'upstream_refused']);
          outcomes.refused += 1;
        } else {
          expect(result).to.deep.equal(itemsOf(platform));
          outcomes.whole += 1;
        }
      }),
      { numRuns: PLATFORMS },
    );
    expect(outcomes.whole).to.be.greaterThan(PLATFORMS / 20);
    expect(outcomes.refused).to.be.greaterThan(PLATFORMS / 20);
  });

  it('is whole or an error where all that tells is a page as long as was asked for, counted or not', async function () {
    this.timeout(120_000);
    const silent = platforms
      .filter(({ onNonsense }) => onNonsense !== 'is empty')
      .map((platform) => ({ ...platform, shown: platform.shown.filter((sign) => sign === 'count') }))
      .chain((platform) =>
        fc.tuple(fc.constant(platform), settingsFor(platform), fc.integer({ min: 1, max: platform.maxSize })),
      );
    await fc.assert(
      fc.asyncProperty(silent, async ([platform, settings, size]) => {
        const { sizeParam } = platform;
        // A total that is none would tell the end of the one page; and who counts by numbers reads on until a page is empty.
        if (settings.kind === 'none' && settings.total !== undefined) return;
        if (settings.kind === 'offset' || settings.kind === 'page') return;
        const result =
          settings.kind === 'none'
            ? await read(platform, settings, { [sizeParam]: String(size) })
            : await read(platform, { ...settings, sizeParam, size });
        if (!(result instanceof GatewayError)) expect(result).to.deep.equal(itemsOf(platform));
      }),
      { numRuns: PLATFORMS },
    );
  });

  it('is whole under the settings that fit, whatever signs it shows', async function () {
    this.timeout(120_000);
    await fc.assert(
      fc.asyncProperty(platforms, fc.integer({ min: 1, max: 20 }), async (platform, size) => {
        expect(await read(platform, fittingSettings(platform, size))).to.deep.equal(itemsOf(platform));
      }),
      { numRuns: PLATFORMS / 4 },
    );
  });
});
