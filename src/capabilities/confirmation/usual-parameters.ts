/** Names of query parameters as written, and of words joined by `+` in both usual spellings: `per+page` is `perPage`, `per_page`. */
const names = (text: string): readonly string[] =>
  text.split(/\s+/).flatMap((each) => {
    const [first = '', ...rest] = each.split('+');
    const camel = first + rest.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('');
    return rest.length === 0 ? [each] : [camel, [first, ...rest].join('_')];
  });

const SIZES = names(
  `limit $limit _limit size count _count rows max first take top $top num n pagesize perpage page[size] page[limit]
  per+page page+size page+limit max+results max+items max+records hits+per+page items+per+page results+per+page max+count
  batch+size`,
);
const OFFSETS = names(
  'offset $offset skip $skip start _start from page[offset] start+at start+index first+result page+offset',
);
const PAGES = names('page _page p pageno pageNo page[number] page+number page+index page+num current+page');
const TOKENS = names(
  'after cursor bookmark marker token page[after] page+token starting+after start+after scroll+id cursor+mark next+token',
);

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
