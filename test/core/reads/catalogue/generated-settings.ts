import fc from 'fast-check';
import type { PageExpression, Pagination } from '../../../../src/core/upstream/paging/page-address.ts';
import { anyPlatforms, COUNTING, type GeneratedPlatform, PLACE_PARAMS, SIZE_PARAMS } from './generated-platform.ts';

/** A platform, and settings to read it with. */
export interface GeneratedRead {
  readonly platform: GeneratedPlatform;
  readonly pagination: Pagination;
  /** Of the settings: sent with every page. */
  readonly query: Readonly<Record<string, string>>;
  /** Ids of items that `where` leaves out. @default none */
  readonly excluded?: readonly string[] | undefined;
  /** @default 'fail' */
  readonly duplicateIds?: 'fail' | 'allow';
  /** @default 'fail' */
  readonly invalidItems?: 'fail' | 'drop';
  /** Length of the list at a second read, which may get 304. @default there is no second read */
  readonly later?: number | undefined;
}

/** A path of members, as settings would name it. */
const member = (path: string): PageExpression => {
  const names = path.split('.');
  return Object.assign((body: unknown) => names.reduce<unknown>((value, name) => Object(value)[name] ?? null, body), {
    [fc.toStringMethod]: () => path,
  });
};

const length: PageExpression = Object.assign((body: unknown) => Object(body).items?.length ?? null, {
  [fc.toStringMethod]: () => 'length(items)',
});

const PREFIXES = { beside: '', meta: 'meta.', deep: 'meta.pagination.' } as const;
const NEXTS = ['next_page', 'next_link', 'cursor_on', 'page_on', 'prev', 'elsewhere'];
const TOTALS = ['total', 'totalCount', 'filter_count', 'total_count', 'count', 'total_pages', 'elsewhere'];

const pathIn =
  ({ at }: GeneratedPlatform) =>
  (name: string) =>
    member(`${PREFIXES[at]}${name}`);

/** The settings that fit a platform; with the total, where `isTotalled` and it tells one. */
export function fittingSettings(platform: GeneratedPlatform, size: number, isTotalled: boolean): Pagination {
  const { way, placeParam, firstPage, ignores } = platform;
  const next = pathIn(platform);
  const sized = {
    sizeParam: ignores === 'size' ? null : platform.sizeParam,
    size,
    ...(isTotalled && totalIn(platform)),
  };
  switch (way) {
    case 'all':
      return { kind: 'none' };
    case 'token':
      return { kind: 'token', ...sized, tokenParam: placeParam, next: next('cursor_on') };
    case 'link':
      return { kind: 'link', ...sized };
    case 'link in body':
      return { kind: 'link', ...sized, next: next('page_on') };
    case 'offset':
      return { kind: 'offset', ...sized, offsetParam: placeParam, concurrency: 2 };
    case 'page':
      return { kind: 'page', ...sized, pageParam: placeParam, firstPage, concurrency: 2 };
  }
}

function totalIn(platform: GeneratedPlatform): Pick<Pagination, 'total' | 'totalHeader'> {
  const name = COUNTING.find((each) => each !== 'Content-Range' && platform.shown.includes(each));
  if (name === undefined) return {};
  return name === 'X-Total-Count' ? { totalHeader: name } : { total: pathIn(platform)(name) };
}

const lengths = fc.option(fc.integer({ min: 0, max: 40 }), { nil: undefined, freq: 3 });

/** Sizes that settings may ask this platform for: any that they allow, and often those that it knows. */
function sizesFor({ defaultSize, maxSize }: GeneratedPlatform): fc.Arbitrary<number> {
  return fc.oneof(fc.integer({ min: 2, max: 20 }), fc.constantFrom(defaultSize, maxSize, 10, 100));
}

/**
 * A platform that settings can fit, and those. None do where it ignores the place or filters its pages after it has cut them; and where it rounds offsets down, which
 * makes the end of the list bring items again, only those that name the total.
 */
export const fitting: fc.Arbitrary<GeneratedRead> = anyPlatforms
  .filter(({ ignores, unseen, totals }) => ignores !== 'place' && unseen === undefined && totals.error === 0)
  .filter((platform) => isTrue(platform) || !roundsOffsets(platform))
  .chain((platform) => fc.tuple(fc.constant(platform), sizesFor(platform), fc.boolean(), lengths))
  .filter(([platform]) => !roundsOffsets(platform) || Object.keys(totalIn(platform)).length > 0)
  .map(([platform, size, isTotalled, later]) => ({
    platform,
    ...{ duplicateIds: 'allow', invalidItems: 'drop', later },
    pagination: fittingSettings(platform, size, isTrue(platform) && (isTotalled || roundsOffsets(platform))),
    query: {},
  }));

function isTrue({ totals: { cap } }: GeneratedPlatform): boolean {
  return cap === Number.POSITIVE_INFINITY;
}

function roundsOffsets(platform: GeneratedPlatform): boolean {
  return platform.way === 'offset' && platform.roundsOffsets;
}

/** Settings as somebody may write them who did not read how the platform pages; now and then they are right. */
function guessedSettings(platform: GeneratedPlatform): fc.Arbitrary<Pagination> {
  const pathOf = pathIn(platform);
  const sized = {
    sizeParam: fc.option(fc.constantFrom(...SIZE_PARAMS), { nil: null }),
    size: sizesFor(platform),
  };
  const totals = fc.oneof(fc.constantFrom(...TOTALS).map(pathOf), fc.constant(length));
  const told = {
    total: fc.option(totals, { nil: undefined, freq: 2 }),
    totalHeader: fc.option(fc.constantFrom('X-Total-Count', 'X-Other'), { nil: undefined, freq: 2 }),
  };
  const beyondEnd = fc.constantFrom('empty', 'refused', 'repeated');
  const numbered = { ...sized, ...told, concurrency: fc.constantFrom(1, 3), beyondEnd };
  const place = fc.constantFrom(...PLACE_PARAMS);
  const next = fc.constantFrom(...NEXTS).map(pathOf);
  return fc.oneof(
    fc.record({ kind: fc.constant('none' as const), ...told }),
    fc.record({ kind: fc.constant('token' as const), ...sized, ...told, tokenParam: place, next }),
    fc.record({ kind: fc.constant('link' as const), ...sized, ...told, next: fc.option(next, { nil: undefined }) }),
    fc.record({ kind: fc.constant('offset' as const), ...numbered, offsetParam: place }),
    fc.record({
      kind: fc.constant('page' as const),
      ...numbered,
      pageParam: place,
      firstPage: fc.constantFrom(0, 1),
    }),
  );
}

/** The settings that fit, but for some of the keys, or for the kind: those of a guess are there instead. */
function mistakenSettings(platform: GeneratedPlatform): fc.Arbitrary<Pagination> {
  const { placeParam } = platform;
  return fc
    .record({
      size: sizesFor(platform),
      isTotalled: fc.boolean(),
      guessed: guessedSettings(platform),
      wrong: fc.subarray(['sizeParam', 'total', 'totalHeader', 'next', 'place', 'firstPage', 'kind'], {
        minLength: 1,
        maxLength: 2,
      }),
      concurrency: fc.constantFrom(1, 3),
      firstPage: fc.constantFrom(0, 1),
      place: fc.constantFrom(...PLACE_PARAMS),
      kind: fc.constantFrom('none', 'token', 'link', 'offset', 'page'),
      next: fc.constantFrom(...NEXTS).map(pathIn(platform)),
    })
    .map(({ size, isTotalled, guessed, wrong, concurrency, firstPage, place, kind, next }) => {
      const right = fittingSettings(platform, size, isTotalled);
      const chosen = wrong.includes('place') ? place : placeParam;
      const keys = {
        sizeParam: platform.sizeParam,
        size,
        concurrency,
        ...right,
        ...Object.fromEntries(
          Object.entries(guessed).filter(([key]) => wrong.includes(key) && !['kind', 'next'].includes(key)),
        ),
      };
      return {
        ...keys,
        kind: wrong.includes('kind') ? kind : right.kind,
        next: wrong.includes('next') ? next : 'next' in right ? right.next : pathIn(platform)('cursor_on'),
        offsetParam: chosen,
        pageParam: chosen,
        tokenParam: chosen,
        firstPage: wrong.includes('firstPage') ? firstPage : platform.firstPage,
      } as Pagination;
    });
}

const excluded = fc
  .record({ from: fc.integer({ min: 0, max: 30 }), length: fc.integer({ min: 1, max: 20 }) })
  .map(({ from, length }) => Array.from({ length }, (_, index) => `id-${from + index}`));

/** A platform, and settings that mostly do not fit. Those of `none` may send a size of their own. */
export const anyRead: fc.Arbitrary<GeneratedRead> = anyPlatforms.chain((platform) =>
  fc
    .record({
      pagination: fc.oneof(guessedSettings(platform), mistakenSettings(platform)),
      sizeParam: fc.option(fc.constantFrom(platform.sizeParam, ...SIZE_PARAMS), { nil: undefined }),
      size: sizesFor(platform),
      excluded: fc.option(excluded, { nil: undefined, freq: 2 }),
      duplicateIds: fc.constantFrom('fail', 'allow'),
      invalidItems: fc.constantFrom('fail', 'drop'),
      isReadAgain: fc.boolean(),
    })
    .map(({ pagination, sizeParam, size, excluded: left, duplicateIds, invalidItems, isReadAgain }) => ({
      platform,
      ...{ duplicateIds, invalidItems, later: isReadAgain ? platform.count : undefined },
      pagination,
      excluded: left,
      query: pagination.kind === 'none' && sizeParam !== undefined ? { [sizeParam]: String(size) } : {},
    })),
);

/** Lists below parents: those of a list, each of which has a list of this length, of the same platform and under the same settings. */
export interface GeneratedJoin {
  readonly parents: GeneratedRead;
  readonly child: GeneratedRead;
  readonly counts: readonly number[];
}

const counts = fc.array(fc.oneof(fc.integer({ min: 0, max: 40 }), fc.constantFrom(0, 1, 10, 20)), { maxLength: 8 });

/** Lists below parents, whose settings fit on one of both levels at most. */
export const anyJoin: fc.Arbitrary<GeneratedJoin> = fc
  .oneof(
    fc.record({ parents: fitting, child: anyRead, counts }),
    fc.record({ parents: anyRead, child: fitting, counts }),
    fc.record({ parents: fitting, child: fitting, counts }),
  )
  .map(({ parents, child, counts }) => ({
    // Repeated parents would have their lists read twice.
    parents: { ...withMost(parents, 25, { versions: 1, nameless: 0 }), duplicateIds: 'fail' },
    child: withMost(child, 12, {}),
    counts,
  }));

/** Read once, of at most so many items. */
function withMost(read: GeneratedRead, most: number, items: Partial<GeneratedPlatform>): GeneratedRead {
  const { platform } = read;
  return { ...read, later: undefined, platform: { ...platform, ...items, count: Math.min(platform.count, most) } };
}
