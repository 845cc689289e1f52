import type { Item } from '../../resources/resource.ts';

/** Values of one field that a model is told of, and characters of each. */
const MAX_VALUES = 20;
const MAX_LENGTH = 64;

/** Control characters, what is invisible or turns text around, and what breaks lines. */
const UNPRINTABLE = /[\p{C}\p{Zl}\p{Zp}]/u;

/** Values of one field: a few, each of them short and printable. */
export interface Values {
  readonly values: readonly string[];
  /** Whether there are others, which are too many, too long, or not printable. */
  readonly hasMore: boolean;
}

/** Takes values one by one. The empty one is none. Of what comes from a platform, no more is kept than is told. */
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

/** Those of all these that can be told. */
export function valuesOf(all: Iterable<string>): Values {
  const values = createValues();
  for (const value of all) values.add(value);
  return values;
}

/** Takes items one by one, and keeps what these fields of theirs are. */
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

/** As a sentence lists them: each in quotes, since what a platform calls something may read like a sentence. */
export function listValues({ values, hasMore }: Values): string {
  return [...values.map((value) => JSON.stringify(value)), ...(hasMore ? ['others'] : [])].join(', ');
}
