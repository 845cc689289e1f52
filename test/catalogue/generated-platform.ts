import fc from 'fast-check';
import type { PageExpression, Pagination } from '../../src/upstream/pagination/pagination.ts';
import type { ReplyHeaders } from '../../src/upstream/upstream.ts';

/** How a platform pages its list, and what its pages tell of that. All that it says is true. */
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
  readonly shown: readonly Shown[];
  /** Beside the list, in `meta`, or in `meta.pagination`. */
  readonly at: 'beside' | 'meta' | 'deep';
}

export const WAYS = ['offset', 'page', 'token', 'link', 'link in body', 'all'] as const;
type Way = (typeof WAYS)[number];

/** Signs by which a platform tells how many items there are; and others, by which it tells that there is more. */
export const COUNTING = ['total', 'totalCount', 'X-Total-Count', 'Content-Range'] as const;
export const LEADING = ['pages', 'has_more', 'isLast', 'next_page', 'next_link', 'Link'] as const;
type Shown = (typeof COUNTING)[number] | (typeof LEADING)[number] | 'prev' | 'count';

export interface Reply {
  readonly body: object;
  readonly headers: ReplyHeaders;
}

const SIZE_PARAMS = ['limit', 'per_page', 'pageSize'] as const;
const PLACE_PARAMS = ['offset', 'page', 'pageToken', 'skip', 'cursor'] as const;

export const itemsOf = ({ count }: GeneratedPlatform): readonly { readonly id: string; readonly name: string }[] =>
  Array.from({ length: count }, (_, index) => ({ id: `id-${index}`, name: 'n' }));

/** The page at a target; undefined where the platform refuses it. */
export function replyTo(platform: GeneratedPlatform, target: string): Reply | undefined {
  const { searchParams } = new URL(target, 'https://platform.example');
  const size = sizeOf(platform, searchParams);
  const start = startOf(platform, searchParams, size);
  if (start === undefined) return undefined;
  const all = itemsOf(platform);
  const items = all.slice(start, start + size);
  const end = start + size;
  const further = end < all.length ? placeAt(platform, end, size) : undefined;
  const url = (place: string | number) => `/list?${platform.sizeParam}=${size}&${platform.placeParam}=${place}`;
  const next = further === undefined ? undefined : url(further);
  const said: Record<string, unknown> = {};
  const headers: Record<string, string> = {};
  const isPrevious = start > 0;
  // A way to page that the settings may follow is there whether it is one of those shown or not.
  if (platform.way === 'token') said['cursor_on'] = further ?? null;
  if (platform.way === 'link in body') said['page_on'] = next ?? null;
  if (platform.way === 'link' && next !== undefined) headers['link'] = `<${next}>; rel="next"`;
  for (const shown of platform.shown) {
    switch (shown) {
      case 'total':
      case 'count':
      case 'totalCount':
        said[shown] = shown === 'count' ? items.length : all.length;
        break;
      case 'pages':
        said['total_pages'] = Math.max(1, Math.ceil(all.length / size));
        break;
      case 'X-Total-Count':
        headers['x-total-count'] = String(all.length);
        break;
      case 'Content-Range':
        headers['content-range'] = `items ${start}-${start + items.length - 1}/${all.length}`;
        break;
      case 'has_more':
        said['has_more'] = further !== undefined;
        break;
      case 'isLast':
        said['isLast'] = further === undefined;
        break;
      case 'next_page':
        said['next_page'] = further ?? null;
        break;
      case 'next_link':
        said['next_link'] = next ?? '';
        break;
      case 'Link':
        headers['link'] = next === undefined ? '</list>; rel="first"' : `<${next}>; rel="next"`;
        break;
      case 'prev':
        said['prev'] = isPrevious ? url('before') : null;
    }
  }
  return { body: { items, ...placed(said, platform) }, headers };
}

function placed(said: object, { at }: GeneratedPlatform): object {
  if (at === 'beside') return said;
  return at === 'meta' ? { meta: said } : { meta: { pagination: said } };
}

function sizeOf({ way, sizeParam, defaultSize, maxSize, count }: GeneratedPlatform, asked: URLSearchParams): number {
  if (way === 'all') return Math.max(1, count);
  const size = Number(asked.get(sizeParam) ?? defaultSize);
  return Math.min(Number.isSafeInteger(size) && size > 0 ? size : defaultSize, maxSize);
}

const NONSENSE: Readonly<Record<GeneratedPlatform['onNonsense'], (count: number) => number | undefined>> = {
  begins: () => 0,
  refuses: () => undefined,
  'is empty': (count) => count,
};

function startOf(platform: GeneratedPlatform, asked: URLSearchParams, size: number): number | undefined {
  const { way, placeParam, firstPage, onNonsense } = platform;
  const text = asked.get(placeParam);
  if (way === 'all' || text === null) return 0;
  const isNumber = way === 'offset' || way === 'page';
  const found = (isNumber ? /^(\d+)$/ : /^t(\d+)$/).exec(text);
  const number = found === null ? undefined : Number(found[1]);
  if (number === undefined || (way === 'page' && number < firstPage)) return NONSENSE[onNonsense](platform.count);
  return way === 'page' ? (number - firstPage) * size : number;
}

function placeAt({ way, firstPage }: GeneratedPlatform, start: number, size: number): string | number {
  if (way === 'offset') return start;
  return way === 'page' ? start / size + firstPage : `t${start}`;
}

export const platforms = fc.record({
  way: fc.constantFrom(...WAYS),
  count: fc.integer({ min: 0, max: 40 }),
  sizeParam: fc.constantFrom(...SIZE_PARAMS),
  placeParam: fc.constantFrom(...PLACE_PARAMS),
  defaultSize: fc.integer({ min: 2, max: 12 }),
  maxSize: fc.integer({ min: 2, max: 15 }),
  firstPage: fc.constantFrom(0, 1),
  onNonsense: fc.constantFrom('begins', 'refuses', 'is empty'),
  shown: fc.uniqueArray(fc.constantFrom(...COUNTING, ...LEADING, 'prev' as const, 'count' as const), {
    maxLength: 5,
  }),
  at: fc.constantFrom('beside', 'meta', 'deep'),
}) as fc.Arbitrary<GeneratedPlatform>;

/** A path of members, as settings would name it. */
const member = (path: string): PageExpression => {
  const names = path.split('.');
  return (body) => names.reduce<unknown>((value, name) => Object(value)[name] ?? null, body);
};

const PREFIXES = { beside: '', meta: 'meta.', deep: 'meta.pagination.' } as const;
const NEXTS = ['next_page', 'next_link', 'cursor_on', 'page_on', 'prev', 'elsewhere'];
const TOTALS = ['total', 'totalCount', 'count', 'total_pages', 'elsewhere'];

/** Settings as somebody may write them who did not read how the platform pages; now and then they are right. */
export function settingsFor({ at }: GeneratedPlatform): fc.Arbitrary<Pagination> {
  const pathOf = (name: string) => member(`${PREFIXES[at]}${name}`);
  const sized = {
    sizeParam: fc.option(fc.constantFrom(...SIZE_PARAMS), { nil: null }),
    size: fc.integer({ min: 1, max: 20 }),
  };
  const told = {
    total: fc.option(fc.constantFrom(...TOTALS).map(pathOf), { nil: undefined, freq: 3 }),
    totalHeader: fc.option(fc.constantFrom('X-Total-Count', 'X-Other'), { nil: undefined, freq: 6 }),
  };
  const numbered = { ...sized, ...told, concurrency: fc.constantFrom(1, 3) };
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

/** The settings that fit a platform. */
export function fittingSettings(platform: GeneratedPlatform, size: number): Pagination {
  const { way, sizeParam, placeParam, firstPage, at } = platform;
  const sized = { sizeParam, size };
  const next = (name: string) => member(`${PREFIXES[at]}${name}`);
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
