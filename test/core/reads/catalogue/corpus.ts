/** Bytes of the largest page (`maxPageBytes`). */
const MAX_PAGE_BYTES = 2_097_152;

/** As many copies of a text, with commas between them, as fit into the largest page beside everything else. */
function filled(text: string, most = Number.POSITIVE_INFINITY): string {
  return Array(Math.min(Math.floor((MAX_PAGE_BYTES - 1000) / (text.length + 1)), most))
    .fill(text)
    .join(',');
}

const nested = (brackets: string, depth: number) => brackets[0]?.repeat(depth) + String(brackets[1]).repeat(depth);
const half = MAX_PAGE_BYTES / 2 - 1000;

/** Values of a page that are just let through (`maxPageValues`), beside an item. */
const MOST = 249_900;

/** Beside one item, what a page of the largest size may hold to make work of it. */
const BESIDE: Record<string, string> = {
  'empty objects': `[${filled('{}')}]`,
  'as many empty objects as may be': `[${filled('{}', MOST / 2)}]`,
  'as many empty texts as may be': `[${filled('""', MOST)}]`,
  'as many numbers as may be that do not print as they are written': `[${filled('1.10', MOST)}]`,
  'as many objects of one member as may be': `[${filled('{"a":{}}', MOST / 3)}]`,
  'as many keys as may be': `{${Array.from({ length: 180_000 }, (_, index) => `"${(index + 1e6).toString(36)}":1`).join(',')}}`,
  'lists in lists, as deep as may be': `[${filled(nested('[]', 990), 250)}]`,
  'empty lists': `[${filled('[]')}]`,
  'small numbers': `[${filled('7')}]`,
  'numbers that do not print as they are written': `[${filled('1.10')}]`,
  'one number of 2 MB': `1${'0'.repeat(half)}`,
  'empty texts': `[${filled('""')}]`,
  'a text of escapes': `"${'\\u0041'.repeat(half / 6)}"`,
  'a text of backslashes': `"${'\\\\'.repeat(half / 2)}"`,
  'lists in lists': nested('[]', half),
  'objects in objects': `${'{"a":'.repeat(half / 5)}1${'}'.repeat(half / 5)}`,
  'an object of many keys': `{${Array.from({ length: half / 12 }, (_, index) => `"${(index + 1e6).toString(36)}":1`).join(',')}}`,
};

const item = (id: number, rest = '') => `{"id":"${id}","name":"n"${rest}}`;

/** Name of a page of ordinary items. */
export const MANY_ITEMS = 'many small items';

/** Items that fill a page of the largest size. */
const ITEMS: Record<string, (first: number) => string> = {
  [MANY_ITEMS]: (first) => Array.from({ length: 75_000 }, (_, index) => item(first + index)).join(','),
  'many items with numbers that do not print as they are written': (first) =>
    Array.from({ length: 40_000 }, (_, index) => `{"id":${first + index}.10,"name":1e3,"x":0.10}`).join(','),
  'an item that nests deeply': (first) => item(first, `,"x":${nested('[]', half)}`),
  'an item of one long text': (first) => item(first, `,"description":"${'x'.repeat(half)}"`),
  'times with long fractions': (first) =>
    Array.from({ length: 20 }, (_, index) => item(first + index, `,"time":-1.${'0'.repeat(100_000)}1`)).join(','),
};

/** Names of pages, and their bodies: the first of a list and the second one. */
export const CORPUS: ReadonlyMap<string, readonly [string, string]> = new Map([
  ...Object.entries(BESIDE).map(([what, beside]) => {
    const body = (id: number, next: string) => `{"things":[${item(id)}],"next":"${next}","beside":${beside}}`;
    return [`beside its items ${what}`, [body(1, 'more'), body(2, '')]] as const;
  }),
  [
    'a token of 2 MB',
    [`{"things":[${item(1)}],"next":"${'x y/'.repeat(half / 2)}"}`, `{"things":[],"next":""}`],
  ] as const,
  ...Object.entries(ITEMS).map(([what, items]) => {
    const body = (id: number, next: string) => `{"things":[${items(id)}],"next":"${next}"}`;
    return [what, [body(1, 'more'), body(1_000_001, '')]] as const;
  }),
]);
