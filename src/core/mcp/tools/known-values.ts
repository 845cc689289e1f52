import type { Item } from '../../resources/resource.ts';

/** Per field, in a hint. */
const MAX_VALUES = 20;
const MAX_LENGTH = 64;

/** Matches control characters, invisible or direction-changing characters, and line breaks. */
const UNPRINTABLE = /[\p{C}\p{Zl}\p{Zp}]/u;

export function printable(text: string): string {
  return text.replaceAll(new RegExp(UNPRINTABLE, 'gu'), '\uFFFD');
}

/** Values of one field: few and short. */
export interface Values {
  readonly values: readonly string[];
  /** Whether other values exist that are too many or too long. */
  readonly hasMore: boolean;
}

/** Keeps no more of a platform's text than can be shown, and no empty one. */
function keep(shown: { values: string[]; hasMore: boolean }, value: string): void {
  const { values } = shown;
  if (value === '' || values.includes(value)) return;
  if (values.length < MAX_VALUES && value.length <= MAX_LENGTH) values.push(value);
  else shown.hasMore = true;
}

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

/** Lists values that are printable once shown, each in quotes, because a platform's text may read like a sentence. */
export function listValues({ values, hasMore }: Values, show = (text: string) => text): string {
  const shown = values.map(show).filter((value) => !UNPRINTABLE.test(value));
  const others = hasMore || shown.length < values.length ? ['others'] : [];
  return [...shown.map((value) => JSON.stringify(value)), ...others].join(', ');
}
