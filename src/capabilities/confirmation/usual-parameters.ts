/** Names of query parameters for the size of a page and its place, made of usual words in the usual spellings. */
const spelled = (...names: readonly string[]) => names.flatMap((name) => name.split(' '));
const inStyles = (words: readonly (readonly string[])[]) =>
  words.flatMap(([first = '', ...rest]) => [
    first + rest.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join(''),
    [first, ...rest].join('_'),
  ]);

const SIZES = [
  ...spelled(
    'limit $limit _limit size count _count rows max first take top $top num n pagesize perpage page[size] page[limit]',
  ),
  ...inStyles([
    ['per', 'page'],
    ['page', 'size'],
    ['page', 'limit'],
    ['max', 'results'],
    ['max', 'items'],
    ['max', 'records'],
  ]),
  ...inStyles([
    ['hits', 'per', 'page'],
    ['items', 'per', 'page'],
    ['results', 'per', 'page'],
    ['max', 'count'],
    ['batch', 'size'],
  ]),
];
const OFFSETS = [
  ...spelled('offset $offset skip $skip start _start from page[offset]'),
  ...inStyles([
    ['start', 'at'],
    ['start', 'index'],
    ['first', 'result'],
    ['page', 'offset'],
  ]),
];
const PAGES = [
  ...spelled('page _page p pageno pageNo page[number]'),
  ...inStyles([
    ['page', 'number'],
    ['page', 'index'],
    ['page', 'num'],
    ['current', 'page'],
  ]),
];

const TOKENS = [
  ...spelled('after cursor bookmark marker token page[after]'),
  ...inStyles([
    ['page', 'token'],
    ['starting', 'after'],
    ['start', 'after'],
    ['scroll', 'id'],
    ['cursor', 'mark'],
    ['next', 'token'],
  ]),
];

/** For platforms that refuse a request with parameters that they do not know: one spelling at a time. */
export const PAIRS: readonly (readonly [size: string, place: string])[] = [
  ['limit', 'offset'],
  ['limit', 'page'],
  ['per_page', 'page'],
  ['pageSize', 'page'],
  ['size', 'page'],
  ['$top', '$skip'],
];

export interface Place {
  readonly size?: number;
  readonly offset?: number;
  readonly page?: number;
}

/** The query parameters of a page under all usual names. */
export function usualParameters({ size, offset, page }: Place): Record<string, number> {
  const under = (names: readonly string[], value: number | undefined) =>
    value === undefined ? [] : [...new Set(names)].map((name) => [name, value] as const);
  return Object.fromEntries([...under(SIZES, size), ...under(OFFSETS, offset), ...under(PAGES, page)]);
}

/** The query parameters of a token under the usual names. */
export function tokenParameters(token: string): Record<string, string> {
  return Object.fromEntries(TOKENS.map((name) => [name, token]));
}

/** The same under one spelling. */
export function pairParameters([size, place]: readonly [string, string], count: number): Record<string, number> {
  return { [size]: count, [place]: /page/i.test(place) ? 2 : count };
}
