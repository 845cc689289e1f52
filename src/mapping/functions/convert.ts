import { invalid } from '../invalid.ts';
import { isExact } from '../json-value.ts';
import { checkLength } from './text.ts';

/** RFC 8259, section 6. */
const JSON_NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

/** A text as it is, anything else as JSON. Throws for a number that may have lost digits: an id would become another. */
export function toText(value: unknown): string {
  if (typeof value === 'string') return value;
  let characters = 0;
  return JSON.stringify(value, (key, part) => {
    if (typeof part === 'number' && !isExact(part)) throw invalid('a number may have lost digits');
    characters += key.length + (typeof part === 'string' ? part.length : 1);
    checkLength(characters);
    return part;
  });
}

/** A number, or a text that is a JSON number; null for anything else. The library's also takes `''` (for 0) and `0x1f`. */
export function toNumber(value: unknown): number | null {
  if (typeof value === 'number') return value;
  return typeof value === 'string' && JSON_NUMBER.test(value) ? Number(value) : null;
}
