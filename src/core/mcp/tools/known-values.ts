import type { Item } from '../../resources/resource.ts';

/** Per field, in a hint. */
const MAX_VALUES = 20;
const MAX_LENGTH = 64;

/** Matches control characters, invisible or direction-changing characters, and line breaks. */
const UNPRINTABLE = /[\p{C}\p{Zl}\p{Zp}]/u;

export function printable(text: string): string {
  return text.replaceAll(new RegExp(UNPRINTABLE, 'gu'), '\uFFFD');
}

export interface Values {
  readonly values: readonly string[];
  /** Whether other values exist that are too many, too long, or not printable. */
  readonly hasMore: boolean;
}

/** Collects values one by one, except empty ones. Keeps no more of a platform's text than is shown. */
function createValues(): Values & { add(value: string): void } {
  const kept = new Set<string>();
  let hasMore = false;
  return {
    get values() {
      return [...kept];
    },
    get hasMore() {
      return hasMore;
    },
    add(value) {
      if (value === '' || kept.has(value)) return;
      if (kept.size < MAX_VALUES && value.length <= MAX_LENGTH && !UNPRINTABLE.test(value)) kept.add(value);
      else hasMore = true;
    },
  };
}

export function valuesOf(all: Iterable<string>): Values {
  const values = createValues();
  for (const value of all) values.add(value);
  return values;
}

export function createSeen(fields: readonly string[]) {
  const seen = fields.map((field) => ({ field, values: createValues() }));
  return {
    add(item: Item) {
      for (const { field, values } of seen) values.add(item[field] ?? '');
    },
    /** By field. */
    values: (): ReadonlyMap<string, Values> => new Map(seen.map(({ field, values }) => [field, values])),
  };
}

/** Lists values, each in quotes, because a platform's text may read like a sentence. */
export function listValues({ values, hasMore }: Values): string {
  return [...values.map((value) => JSON.stringify(value)), ...(hasMore ? ['others'] : [])].join(', ');
}
