import fc from 'fast-check';
import type { ReplyHeaders } from '../../../../src/core/upstream/upstream.ts';

/** How a platform pages its list, and what its pages tell of that. All that it says is true, but for some totals. */
export interface GeneratedPlatform {
  readonly way: Way;
  /** Items of the list. */
  readonly count: number;
  /** Its parameter for the page size. */
  readonly sizeParam: string;
  /** Its parameter for the offset, page number or token. */
  readonly placeParam: string;
  readonly defaultSize: number;
  readonly maxSize: number;
  readonly firstPage: 0 | 1;
  /** What it does with a token or number that it does not know. */
  readonly onNonsense: 'begins' | 'refuses' | 'is empty';
  /** A parameter of its own that it reads nevertheless as if it were absent. */
  readonly ignores: 'size' | 'place' | undefined;
  /** Refuses a request that has a parameter of another name. */
  readonly refusesUnknown: boolean;
  /** Begins at the last multiple of the page size, as if the offset were a place in the middle of a page. */
  readonly roundsOffsets: boolean;
  /** Names a next page behind a full one, though it is empty. */
  readonly endsEmpty: boolean;
  /** Items differ from reply to reply in a field that is not mapped, as a signed URL does. */
  readonly isVolatile: boolean;
  /** Items that the caller may not see: its pages are cut first, and then filtered. */
  readonly unseen: { readonly from: number; readonly to: number } | undefined;
  /** So many items in a row have one id, as versions do. */
  readonly versions: number;
  /** Every so many items, one has no name; none at 0. */
  readonly nameless: number;
  /** Items that a filter hides; `total_count` beside `filter_count` counts them. */
  readonly hidden: number;
  /** Its totals are at most `cap`, or are too large or too small by `error`. */
  readonly totals: { readonly cap: number; readonly error: number };
  readonly shown: readonly Shown[];
  /** Beside the list, in `meta`, or in `meta.pagination`. */
  readonly at: 'beside' | 'meta' | 'deep';
}

export const WAYS = ['offset', 'page', 'token', 'link', 'link in body', 'all'] as const;
type Way = (typeof WAYS)[number];

/** Signs by which a platform tells how many items there are; and others, by which it tells that there is more. */
export const COUNTING = ['total', 'totalCount', 'filter_count', 'X-Total-Count', 'Content-Range'] as const;
export const LEADING = [
  ...(['pages', 'has_more', 'isLast', 'next_page', 'next_link', 'Link', 'x-acme-continuation-token'] as const),
] as const;
export type Shown = (typeof COUNTING)[number] | (typeof LEADING)[number] | 'prev' | 'count';

export interface Reply {
  readonly body: object;
  readonly headers: ReplyHeaders;
}

export const SIZE_PARAMS = ['limit', 'per_page', 'pageSize'] as const;
export const PLACE_PARAMS = ['offset', 'page', 'pageToken', 'skip', 'cursor'] as const;

const allOf = ({ count, versions, nameless }: GeneratedPlatform) =>
  Array.from({ length: count }, (_, index) => ({
    id: `id-${Math.floor(index / versions)}`,
    ...(nameless > 0 && index % nameless === nameless - 1 ? {} : { name: `n${index % versions}` }),
  }));

const isSeen = ({ unseen }: GeneratedPlatform, index: number) =>
  unseen === undefined || index < unseen.from || index >= unseen.to;

/** The list of the caller. */
export const itemsOf = (platform: GeneratedPlatform): readonly { readonly id: string; readonly name?: string }[] =>
  allOf(platform).filter((_, index) => isSeen(platform, index));

/** What it says of a number of items. */
export function counted({ totals: { cap, error } }: GeneratedPlatform, count: number): number {
  return Math.max(0, Math.min(count, cap) + error);
}

/** The page at a target, which is the reply of this number; undefined where was refused. */
export function replyTo(platform: GeneratedPlatform, target: string, reply = 0): Reply | undefined {
  const { searchParams } = new URL(target, 'https://platform.example');
  if (platform.refusesUnknown && [...searchParams.keys()].some((name) => !takes(platform, name))) return undefined;
  const size = sizeOf(platform, searchParams);
  const start = startOf(platform, searchParams, size);
  if (start === undefined) return undefined;
  const all = allOf(platform);
  const seen = itemsOf(platform);
  const items = all
    .slice(start, start + size)
    .map((item, index) => ({ ...item, serial: start + index }))
    .filter(({ serial }) => isSeen(platform, serial))
    .map((item) => (platform.isVolatile ? { ...item, url: `https://files.example/${item.id}?signed=${reply}` } : item));
  const end = start + size;
  const further = end < all.length ? placeAt(platform, end, size) : undefined;
  const isFull = end <= all.length && platform.way !== 'all';
  const followed = platform.endsEmpty && isFull ? placeAt(platform, end, size) : further;
  const url = (place: string | number) => `/list?${platform.sizeParam}=${size}&${platform.placeParam}=${place}`;
  const next = further === undefined ? undefined : url(further);
  const link = followed === undefined ? undefined : url(followed);
  const total = counted(platform, seen.length);
  const beside: Readonly<Record<string, object>> = {
    total: { total },
    count: { count: items.length },
    totalCount: { totalCount: total },
    filter_count: { filter_count: total, total_count: total + platform.hidden },
    pages: { total_pages: Math.max(1, Math.ceil(counted(platform, all.length) / size)) },
    has_more: { has_more: further !== undefined },
    isLast: { isLast: further === undefined },
    next_page: { next_page: further ?? null },
    next_link: { next_link: next ?? '' },
    prev: { prev: start > 0 ? url('before') : null },
  };
  const range = items.length === 0 ? '*' : `${start}-${start + items.length - 1}`;
  const inHeaders: Readonly<Record<string, object>> = {
    'X-Total-Count': { 'x-total-count': String(total) },
    'x-acme-continuation-token': further === undefined ? {} : { 'x-acme-continuation-token': String(further) },
    'Content-Range': { 'content-range': `items ${range}/${total}` },
    Link: { link: next === undefined ? '</list>; rel="first"' : `<${next}>; rel="next"` },
  };
  const said = Object.assign({}, ...platform.shown.map((sign) => beside[sign]));
  const headers = Object.assign({}, ...platform.shown.map((sign) => inHeaders[sign]));
  // A way to page that the settings may follow is there whether it is one of those shown or not.
  if (platform.way === 'token') said['cursor_on'] = followed ?? null;
  if (platform.way === 'link in body') said['page_on'] = link ?? null;
  if (platform.way === 'link' && link !== undefined) headers['link'] = `<${link}>; rel="next"`;
  return { body: { items, ...placed(said, platform) }, headers };
}

function takes({ way, sizeParam, placeParam }: GeneratedPlatform, name: string): boolean {
  return way !== 'all' && (name === sizeParam || name === placeParam);
}

function placed(said: object, { at }: GeneratedPlatform): object {
  if (at === 'beside') return said;
  return at === 'meta' ? { meta: said } : { meta: { pagination: said } };
}

function sizeOf(platform: GeneratedPlatform, asked: URLSearchParams): number {
  const { way, sizeParam, defaultSize, maxSize, count, ignores } = platform;
  if (way === 'all') return Math.max(1, count);
  const size = ignores === 'size' ? defaultSize : Number(asked.get(sizeParam) ?? defaultSize);
  return Math.min(Number.isSafeInteger(size) && size > 0 ? size : defaultSize, maxSize);
}

const NONSENSE: Readonly<Record<GeneratedPlatform['onNonsense'], (count: number) => number | undefined>> = {
  begins: () => 0,
  refuses: () => undefined,
  'is empty': (count) => count,
};

function startOf(platform: GeneratedPlatform, asked: URLSearchParams, size: number): number | undefined {
  const { way, placeParam, firstPage, onNonsense, ignores, roundsOffsets } = platform;
  const text = asked.get(placeParam);
  if (way === 'all' || ignores === 'place' || text === null) return 0;
  const isNumber = way === 'offset' || way === 'page';
  const found = (isNumber ? /^(\d+)$/ : /^t(\d+)$/).exec(text);
  const number = found === null ? undefined : Number(found[1]);
  if (number === undefined || (way === 'page' && number < firstPage)) return NONSENSE[onNonsense](platform.count);
  if (way === 'page') return (number - firstPage) * size;
  return way === 'offset' && roundsOffsets ? Math.floor(number / size) * size : number;
}

function placeAt({ way, firstPage }: GeneratedPlatform, start: number, size: number): string | number {
  if (way === 'offset') return start;
  return way === 'page' ? start / size + firstPage : `t${start}`;
}

const shapes = fc.record({
  way: fc.constantFrom(...WAYS),
  sizeParam: fc.constantFrom(...SIZE_PARAMS),
  placeParam: fc.constantFrom(...PLACE_PARAMS),
  defaultSize: fc.oneof(fc.integer({ min: 2, max: 12 }), fc.constantFrom(10, 20)),
  maxSize: fc.oneof(fc.integer({ min: 2, max: 15 }), fc.constantFrom(10, 20, 100)),
  firstPage: fc.constantFrom(0, 1),
  onNonsense: fc.constantFrom('begins', 'refuses', 'is empty'),
  ignores: fc.option(fc.constantFrom('size', 'place'), { nil: undefined, freq: 2 }),
  refusesUnknown: rarely(),
  roundsOffsets: rarely(),
  endsEmpty: rarely(),
  isVolatile: fc.boolean(),
  versions: fc.oneof({ arbitrary: fc.constant(1), weight: 5 }, fc.integer({ min: 2, max: 8 })),
  nameless: fc.oneof({ arbitrary: fc.constant(0), weight: 5 }, fc.integer({ min: 2, max: 5 })),
  hidden: fc.integer({ min: 0, max: 10 }),
  unseen: fc.option(
    fc
      .record({ from: fc.integer({ min: 0, max: 30 }), length: fc.integer({ min: 1, max: 2 }) })
      .map(({ from, length }) => ({ from, to: from + length })),
    { nil: undefined, freq: 2 },
  ),
  shown: fc.uniqueArray(fc.constantFrom(...COUNTING, ...LEADING, 'prev' as const, 'count' as const), {
    maxLength: 5,
  }),
  at: fc.constantFrom('beside', 'meta', 'deep'),
}) as fc.Arbitrary<Omit<GeneratedPlatform, 'count' | 'totals'>>;

const TRUE = { cap: Number.POSITIVE_INFINITY, error: 0 };

/** Lists of all lengths, and often those at and around a multiple of a page. */
export const platforms: fc.Arbitrary<GeneratedPlatform> = shapes.chain((shape) => {
  const aroundPages = fc
    .tuple(
      fc.constantFrom(shape.defaultSize, shape.maxSize, 10),
      fc.integer({ min: 1, max: 4 }),
      fc.constantFrom(-1, 0, 1),
    )
    .map(([size, pages, more]) => Math.min(size * pages, 60) + more);
  return fc.oneof(fc.integer({ min: 0, max: 40 }), aroundPages).map((count) => ({
    ...shape,
    count,
    totals: TRUE,
    // Otherwise no request leads to what is behind them.
    unseen: shape.ignores === 'place' ? undefined : shape.unseen,
  }));
});

/** A list whose total is capped below its length, at the end of a page as a rule. */
const capped: fc.Arbitrary<GeneratedPlatform> = fc
  .record({
    shape: shapes,
    size: fc.constantFrom(10, 20, 25, 50),
    cap: fc.constantFrom(100, 150, 200),
    more: fc.integer({ min: 1, max: 30 }),
  })
  .map(({ shape, size, cap, more }) => ({
    ...shape,
    defaultSize: size,
    maxSize: Math.max(size, shape.maxSize),
    count: cap + more,
    totals: { cap, error: 0 },
    unseen: undefined,
  }));

const estimated: fc.Arbitrary<GeneratedPlatform> = fc
  .tuple(platforms, fc.integer({ min: -5, max: 5 }))
  .map(([platform, error]) => ({ ...platform, unseen: undefined, totals: { ...TRUE, error } }));

/** Also those whose totals are wrong. */
export const anyPlatforms = fc.oneof({ arbitrary: platforms, weight: 8 }, capped, estimated);

function rarely(): fc.Arbitrary<boolean> {
  return fc.integer({ min: 0, max: 3 }).map((number) => number === 0);
}
