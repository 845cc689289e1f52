import { invalid } from '../invalid.ts';

/** Characters of the longest text that a function may make; a longer one makes the item invalid. */
const MAX_CHARACTERS = 65_536;

const SPACE = /[\s\u0085]/;

/**
 * A text without the given characters, or white space where none are given, at its ends. The library's takes time in
 * the square of the length, and cuts characters beyond U+FFFF in two.
 */
export function trim(text: string, characters?: string): string {
  return trimLeft(trimRight(text, characters), characters);
}

/** As {@link trim}, at the left end only. */
export function trimLeft(text: string, characters?: string): string {
  const isTrimmed = among(characters);
  let start = 0;
  for (const character of text) {
    if (!isTrimmed(character)) break;
    start += character.length;
  }
  return text.slice(start);
}

/** As {@link trim}, at the right end only. */
export function trimRight(text: string, characters?: string): string {
  const isTrimmed = among(characters);
  let end = text.length;
  while (end > 0) {
    const start = Number(text.codePointAt(end - 2)) > 0xffff ? end - 2 : end - 1;
    if (!isTrimmed(text.slice(start, end))) break;
    end = start;
  }
  return text.slice(0, end);
}

/** Filled up from the left. The library's takes any width, and leaves an empty text empty. */
export function padLeft(text: string, width: number, padding = ' '): string {
  checkPadding(width, padding);
  return text.padStart(width, padding);
}

/** Filled up from the right. */
export function padRight(text: string, width: number, padding = ' '): string {
  checkPadding(width, padding);
  return text.padEnd(width, padding);
}

/** The first `count` places (all, where it is not given) replaced. The library's finds patterns such as `$&` in `by`. */
export function replace(text: string, old: string, by: string, count?: number): string {
  if (count !== undefined) checkWhole(count);
  const parts = text.split(old);
  const places = parts.length - 1;
  const replaced = Math.min(count ?? places, places);
  if (by.length > old.length) checkLength(text.length + replaced * (by.length - old.length));
  if (replaced === places) return parts.join(by);
  return parts.slice(0, replaced).concat(parts.slice(replaced).join(old)).join(by);
}

/** The parts with `glue` between them. */
export function join(glue: string, parts: readonly string[]): string {
  checkLength(parts.reduce((length, part) => length + glue.length + part.length, 0));
  return parts.join(glue);
}

/** Throws `upstream_invalid` for more characters than a function may make, before memory is taken for them. */
export function checkLength(characters: number): void {
  if (characters > MAX_CHARACTERS) throw invalid('a function makes too long a text');
}

function among(characters = ''): (character: string) => boolean {
  if (characters === '') return (character) => SPACE.test(character);
  const set = new Set(characters);
  return (character) => set.has(character);
}

function checkPadding(width: number, padding: string): void {
  checkWhole(width);
  checkLength(width);
  if ([...padding].length > 1) throw invalid('a padding is more than one character');
}

function checkWhole(count: number): void {
  if (!Number.isInteger(count) || count < 0) throw invalid('a count is no whole number');
}
