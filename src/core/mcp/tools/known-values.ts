import type { Item } from '../../resources/resource.ts';

/** Per field, in a hint. */
const MAX_VALUES = 20;
const MAX_LENGTH = 64;

/** Matches control characters, invisible or direction-changing characters, and line breaks. */
const UNPRINTABLE = /[\p{C}\p{Zl}\p{Zp}]/u;

export function printable(text: string): string {
  return text.replaceAll(new RegExp(UNPRINTABLE, 'gu'), '\uFFFD');
}

/** Values of one field: few, short and printable. */
export interface Values {
  readonly values: readonly string[];
  /** Whether other values exist that are too many, too long, or not printable. */
  readonly hasMore: boolean;
}

/** Keeps no more of a platform's text than is shown, and no empty one. */
function keep(shown: { values: string[]; hasMore: boolean }, value: string): void {
  const { values } = shown;
  if (value === '' || values.includes(value)) return;
  if (values.length < MAX_VALUES && value.length <= MAX_LENGTH && !UNPRINTABLE.test(value)) values.push(value);
  else shown.hasMore = true;
}

/** Returns the values that can be shown. */
export function valuesOf(all: Iterable<string>): Values {
  const shown = { values: [], hasMore: false };
  for (const value of all) keep(shown, value);
  return shown;
}

/** Collects these fields of items, one by one. */
export function createSeen(fields: readonly string[]) {
  const seen = new Map(fields.map((field) => [field, { values: [], hasMore: false }]));
  return {
    add(item: Item) {
      for (const [field, shown] of seen) keep(shown, item[field] ?? '');
    },
    /** By field. */
    values: (): ReadonlyMap<string, Values> => seen,
  };
}

/** Lists values, each in quotes, because a platform's text may read like a sentence. */
export function listValues({ values, hasMore }: Values): string {
  return [...values.map((value) => JSON.stringify(value)), ...(hasMore ? ['others'] : [])].join(', ');
}
