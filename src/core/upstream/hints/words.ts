import { plainName } from '../../kernel/json-shape.ts';

/** Signs of more items. `previous`: a page before the first. `fullPage`: as many items as requested, which no reply states. */
export const SIGNS = ['total', 'pages', 'more', 'next', 'previous', 'fullPage'] as const;

export type Sign = (typeof SIGNS)[number];

/** The meaning of a name. `end` is a flag of the opposite sense; `token` may lead on, or be there with the last page, too. */
export interface Meaning {
  readonly sign: Exclude<Sign, 'fullPage'> | 'end' | 'token';
  /** Some platforms count the items, or pages, of the reply in this one. */
  readonly isCount?: boolean;
  /** Counts what a filter keeps: any other total beside it counts items that no read returns. */
  readonly isFiltered?: boolean;
  /** A total on some platforms, the size of a page on others. */
  readonly isSize?: boolean;
  /** A number of this name is a place; a text leads to the next page. */
  readonly isText?: boolean;
  /** A `token` if a `before` beside it leads back: some platforms give both with every page. */
  readonly isAfter?: boolean;
}

/** Names are compared in lower case and without separators, so they are spelled here in this form. */
const words = (text: string) => `(?:${text.trim().replaceAll(/\s+/g, '|')})`;
const ITEMS = `${words(`all affected item result record element entr(?:y|ie) hit row object doc(?:ument)? match(?:e|ing)? member
  resource asset entit(?:y|ie) thing value data project workflow tool`)}s?`;
const NUMBER = `${words('num number nb no cnt count')}(?:of)?`;
const COUNT = words('counts? cnt size num number nb total');
/** The unit of a place in a list. */
const PLACES =
  words(`pages? links? urls? ur[il] href cursor token marker key id num(?:ber)? start offset skip from index after
  set batch chunk query path position pointer continuation records? results? items? rows? bookmark`);

const name = (pattern: string) => new RegExp(`^(?:${pattern})$`);

const MEANINGS: readonly (readonly [RegExp, Meaning])[] = [
  // Before the totals, of which some of these would be one.
  [
    name(
      `filter(?:ed)?(?:${ITEMS}|${COUNT})+|(?:total|${ITEMS})filtered(?:${COUNT})?|i?total(?:${ITEMS})?display(?:${ITEMS})?`,
    ),
    { sign: 'total', isFiltered: true },
  ],
  [
    name(
      `(?:total|num(?:ber)?of|noof|nb?|count|max)pages?(?:${COUNT})?|numpages|pages(?:${COUNT})?|(?:last|final)page(?:num(?:ber)?|index)?`,
    ),
    { sign: 'pages' },
  ],
  [name(`page(?:counts?|total)`), { sign: 'pages', isCount: true }],
  [
    name(`(?:grand|overall|full|[a-z])?totals?(?:${NUMBER})?(?:${ITEMS}|available|matching)*(?:${COUNT})?`),
    { sign: 'total' },
  ],
  [
    name(
      `(?:${NUMBER})?total(?:${ITEMS})*|(?:${ITEMS})+total|(?:full|all|overall|available|max)(?:${ITEMS})*counts?|(?:odata|inline)count|available(?:${ITEMS})+`,
    ),
    { sign: 'total' },
  ],
  [
    name(
      '(?:total|num|nb|number|items|results)?(?:found|matched)|nbhits|outof|(?:estimated|approx(?:imate)?)total(?:hits|count)?|total(?:hits|count)?estimated?',
    ),
    { sign: 'total' },
  ],
  [
    name(`${NUMBER}(?:${ITEMS})+|(?:${ITEMS})*counts?|records|rows|hits|matches|results|items`),
    { sign: 'total', isCount: true },
  ],
  [name(`(?:list|collection|result(?:set)?)size`), { sign: 'total', isSize: true }],
  [
    name(`(?:has|have|is|are|can(?:load|fetch))?(?:any)?more(?:${ITEMS}|pages?|available|remaining|tocome|exists?)*`),
    { sign: 'more' },
  ],
  [name(`has(?:additional|further|following|remaining)(?:${ITEMS}|pages?)*`), { sign: 'more' }],
  [
    name(
      `(?:is|has|was)?(?:exceeded(?:transfer|size|result|${ITEMS})*limit|limit(?:exceeded|reached|hit)|(?:hit|reached)limit|toomany(?:${ITEMS})*|max(?:${ITEMS})*(?:reached|exceeded)|overflow(?:ed)?|capped|clipped|cutoff)`,
    ),
    { sign: 'more' },
  ],
  [name(`(?:has|have|is)next(?:${PLACES}|${ITEMS})*|next(?:pages?|${ITEMS})?(?:exists?|available)`), { sign: 'more' }],
  [
    name(
      `(?:is|was)?(?:${ITEMS}|set)*(?:truncated|incomplete)(?:${ITEMS})*|remaining(?:${ITEMS}|pages?)*(?:${COUNT}|${ITEMS}|pages?)|(?:${ITEMS}|pages?)+(?:remaining|left)`,
    ),
    { sign: 'more' },
  ],
  [
    name(
      `(?:is)?(?:last|final)(?:page|batch|chunk)?|(?:is|list|${ITEMS})*(?:completed?|done|exhausted|finished)|all(?:${ITEMS})?(?:returned|loaded|fetched)|(?:is|at)?end|(?:reached|is)?end(?:reached)|reachedend|eof|eol|endof(?:the)?(?:list|pages?|stream|${ITEMS})|nomore(?:pages?|${ITEMS})*`,
    ),
    { sign: 'end' },
  ],
  [name(`(?:odata)?next(?:${PLACES})*|(?:${PLACES})+next`), { sign: 'next' }],
  [
    name(
      `continu(?:e|ation)(?:${PLACES})*|(?:resum(?:e|ption)|pagination)(?:${PLACES})+|last(?:evaluated)?key|(?:load|show)?more(?:urls?|ur[il]|href|links?)|following(?:${PLACES})+`,
    ),
    { sign: 'next' },
  ],
  // Airtable has an offset.
  [name('offset|cursor|marker|pag(?:e|ing)(?:token|state)'), { sign: 'next', isText: true }],
  [name('(?:start|search)?after(?:cursor|token|key)?'), { sign: 'next', isAfter: true }],
  [
    name('end(?:ing)?cursor|(?:scroll|search)(?:id|token)|bookmark|(?:next)?cursormark|iterator|querylocator'),
    { sign: 'token' },
  ],
  [name(`(?:has)?prev(?:ious)?(?:${PLACES})*`), { sign: 'previous' }],
];

/** Objects around such members, nested if need be: `meta.pagination.total`. */
const META = name(
  `(?:response|results?|search|list|pages?|paging|pagination|collection|query)*(?:meta|metadata|info|set|pagination|paging|paginator|pager|pages?|pageable|links?|cursors?|nav(?:igation)?|view)|[a-z]*links|additionaldata|details`,
);

/** A word of a header that counts something else, such as requests. */
const OTHER = words(
  'rate ratelimit limits? quotas? costs? time timing duration latency credits? requests? calls? bytes? points? cache retry retries errors? shards?',
);
const OTHER_HEADER = new RegExp(`(?:^|-)${OTHER}(?:-|$)`);
const PAGING_HEADER = name(`(?:pagination|paging|pager|pages?|results?|list)(?:total|${ITEMS}|counts?)+`);
const SIZE_HEADER = name('(?:pagination|paging)size');

interface NamedMeaning {
  readonly meanings: readonly Meaning[];
  readonly isMeta: boolean;
}

const NOTHING: NamedMeaning = { meanings: [], isMeta: false };
const MAX_NAME = 48;

/** Returns what a member of a body states, with any prefix (`hydra:`, `@odata.`, `__`), in any case, with any separators. */
export const meaningOfMember = remembered((member) => {
  const parts = member.split(/[:.]/);
  return meaningOf([plainName(member), plainName(parts.at(-1) ?? '')]);
});

/** Returns what a header states, with any prefix of a vendor. `header` is in lower case. */
export const meaningOfHeader = remembered((header) => {
  if (OTHER_HEADER.test(header)) return NOTHING;
  const parts = header.replace(/^x-/, '').split('-');
  const names = parts.map((_, index) => plainName(parts.slice(index).join('')));
  const own = meaningOf(names.slice(0, 1)).meanings;
  // After a prefix, a count is one of something else: `x-query-count`.
  const found = own.length > 0 ? own : meaningOf(names).meanings.filter(({ isCount }) => isCount !== true);
  const sizes = names.some((each) => SIZE_HEADER.test(each)) ? [{ sign: 'total', isSize: true } as const] : [];
  const counts = names.some((each) => PAGING_HEADER.test(each)) ? [{ sign: 'total', isCount: true } as const] : [];
  const [meanings = []] = [found, counts, sizes].filter(({ length }) => length > 0);
  return {
    meanings: meanings.filter(({ sign }) => sign !== 'end' && sign !== 'previous'),
    isMeta: /(?:^|-)(?:pagination|paging)$/.test(header),
  };
});

function meaningOf(names: readonly string[]): NamedMeaning {
  for (const each of names) {
    const found = MEANINGS.filter(([pattern]) => pattern.test(each)).map(([, meaning]) => meaning);
    // A number of `lastPage` is that of the last page, a flag says whether this is the last.
    const meanings = found.filter(({ sign }, index) => index === 0 || sign === 'end');
    const isMeta = META.test(each);
    if (meanings.length > 0 || isMeta) return { meanings, isMeta };
  }
  return NOTHING;
}

/** Names repeat with each reply. What an upstream can make grow is bounded. */
function remembered(find: (name: string) => NamedMeaning): (name: string) => NamedMeaning {
  const known = new Map<string, NamedMeaning>();
  return (text) => {
    if (text.length > MAX_NAME) return NOTHING;
    const before = known.get(text);
    if (before !== undefined) return before;
    if (known.size >= 1000) known.clear();
    const found = find(text);
    known.set(text, found);
    return found;
  };
}
