import { GatewayError } from '../../kernel/errors.ts';
import { isExact } from '../exact-numbers.ts';

/** Longest result; a longer one makes the item invalid. */
const MAX_CHARACTERS = 65_536;
/** Longest text to search for: V8 skips by the last 250 characters only, and took 45 s in 800,000 similar characters. */
const MAX_SEARCHED_CHARACTERS = 250;
const JSON_NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

type JmespathFunction = (...given: never[]) => unknown;

/**
 * The functions that expressions may call. An upstream decides their input, so each is linear (`sort`: n log n) and returns no
 * text much longer than its input. `null`: the library's own function.
 */
export const FUNCTIONS: Readonly<Record<string, JmespathFunction | null>> = {
  // The library's contains, split and replace accept search texts of any length.
  contains,
  ends_with: null,
  // The library's accepts any length.
  join,
  keys: null,
  length: null,
  lower: null,
  not_null: null,
  // The library's accepts any length, and expands patterns such as `$&` with its fourth parameter.
  replace,
  // The library's sorts numbers as texts.
  sort,
  split,
  starts_with: null,
  to_array: null,
  // The library's accepts `''` as 0, and `0x1f`.
  to_number: toNumber,
  // The library's prints numbers that may have lost digits.
  to_string: toText,
  // The library's takes quadratic time.
  trim: (text: string) => text.trim(),
  type: null,
  upper: null,
  values: null,
};

/** Null for anything but a text in a text. */
function contains(where: string | readonly unknown[], what: unknown): boolean | null {
  if (typeof where !== 'string') return where.includes(what);
  return typeof what === 'string' ? where.includes(searchable(what)) : null;
}

function split(text: string, separator: string): string[] {
  return text.split(searchable(separator));
}

function searchable(text: string): string {
  if (text.length > MAX_SEARCHED_CHARACTERS) throw invalid('the text that a function searches for is too long');
  return text;
}

function join(glue: string, parts: readonly string[]): string {
  checkLength(parts.reduce((length, part) => length + glue.length + part.length, 0));
  return parts.join(glue);
}

function replace(text: string, old: string, by: string): string {
  const parts = split(text, old);
  if (by.length > old.length) checkLength(text.length + (parts.length - 1) * (by.length - old.length));
  return parts.join(by);
}

/** Numbers by value, texts by their UTF-16 code units. */
function sort(list: readonly string[] | readonly number[]): unknown[] {
  return typeof list[0] === 'number' ? (list as readonly number[]).toSorted((a, b) => a - b) : list.toSorted();
}

function toNumber(value: unknown): number | null {
  if (typeof value === 'number') return value;
  return typeof value === 'string' && JSON_NUMBER.test(value) ? Number(value) : null;
}

/** Texts unchanged, all else as JSON. An id that loses digits would become another item's. */
function toText(value: unknown): string {
  if (typeof value === 'string') return value;
  let characters = 0;
  return JSON.stringify(value, (key, part) => {
    if (typeof part === 'number' && !isExact(part)) throw invalid('a number may have lost digits');
    characters += key.length + (typeof part === 'string' ? part.length : 1);
    checkLength(characters);
    return part;
  });
}

/** Checked before allocating. */
function checkLength(characters: number): void {
  if (characters > MAX_CHARACTERS) throw invalid('a function returns a text that is too long');
}

function invalid(reason: string): GatewayError {
  return new GatewayError('upstream_invalid', { reason });
}
