import { GatewayError } from '../../kernel/errors.ts';
import { isExact } from '../json-source.ts';

/** Longest result; a longer one makes the item invalid. */
const MAX_CHARACTERS = 65_536;
/** Longest text to search for: V8 skips by the last 250 characters only, and took 45 s in 800,000 similar characters. */
const MAX_SEARCHED_CHARACTERS = 250;
const JSON_NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

/** A type of JMESPath, or a list of texts or numbers alone. */
export type Type = 'any' | 'array' | 'numbers' | 'object' | 'string' | 'strings';

interface JmespathFunction {
  /** Types of each parameter. */
  readonly takes: readonly (readonly Type[])[];
  /** Whether the last parameter may be repeated. */
  readonly isVariadic: boolean;
  readonly call: (...given: never[]) => unknown;
}

/** Types of a parameter are separated by `|`. */
function define(parameters: readonly string[], call: JmespathFunction['call'], isVariadic = false): JmespathFunction {
  return { takes: parameters.map((types) => types.split('|') as Type[]), isVariadic, call };
}

/**
 * The functions that expressions may call. An upstream decides their input, so each is linear (`sort`: n log n) and returns no
 * text much longer than its input. Some of the library's own are neither, or read other texts as numbers.
 */
export const FUNCTIONS: Readonly<Record<string, JmespathFunction>> = {
  contains: define(['string|array', 'any'], contains),
  ends_with: define(['string', 'string'], (text: string, end: string) => text.endsWith(end)),
  join: define(['string', 'strings'], join),
  keys: define(['object'], Object.keys),
  length: define(['string|array|object'], length),
  lower: define(['string'], (text: string) => text.toLowerCase()),
  not_null: define(['any'], (...values: unknown[]) => values.find((value) => value !== null) ?? null, true),
  replace: define(['string', 'string', 'string'], replace),
  sort: define(['strings|numbers'], sort),
  split: define(['string', 'string'], split),
  starts_with: define(['string', 'string'], (text: string, start: string) => text.startsWith(start)),
  to_array: define(['any'], (value: unknown) => (Array.isArray(value) ? value : [value])),
  to_number: define(['any'], toNumber),
  to_string: define(['any'], toText),
  trim: define(['string'], (text: string) => text.trim()),
  type: define(['any'], (value: unknown) => (value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value)),
  upper: define(['string'], (text: string) => text.toUpperCase()),
  values: define(['object'], Object.values),
};

/** Characters, elements or members. */
function length(value: string | object): number {
  return typeof value === 'string' ? [...value].length : Object.keys(value).length;
}

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
