/** Per field, in a hint. */
const MAX_VALUES = 20;
const MAX_LENGTH = 64;

/** Stands for values that are too long to be named, and are not kept. */
const TOO_LONG = '…'.repeat(MAX_LENGTH + 1);

/** Matches control characters, invisible or direction-changing characters, and line breaks. */
const UNPRINTABLE = /[\p{C}\p{Zl}\p{Zp}]/u;

/** Values of one field in order of appearance: of a platform's text no more than is named, and one that stands for others. */
export type Values = Set<string>;

export function keepValue(values: Values, value: string): void {
  if (value !== '' && values.size <= MAX_VALUES) values.add(value.length > MAX_LENGTH ? TOO_LONG : value);
}

/** Names short values that are printable once shown, each in quotes, because a platform's text may read like a sentence. */
export function listValues(all: Iterable<string>, show = (text: string) => text): string {
  const values: Values = new Set();
  for (const value of all) keepValue(values, value);
  const short = [...values].filter((value) => value !== TOO_LONG).slice(0, MAX_VALUES);
  const named = short.map(show).filter((value) => !UNPRINTABLE.test(value));
  const others = named.length < values.size ? ['others'] : [];
  return [...named.map((value) => JSON.stringify(value)), ...others].join(', ');
}
