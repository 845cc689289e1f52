import { utcText } from './calendar.ts';
import { isoToTimestamp } from './iso-8601.ts';

/** Characters of the longest text that is read as a time: what an upstream sends does not decide how long that takes. */
const MAX_LENGTH = 64;
/** Nine digits and more: fewer are a year, an ordinal date or a basic date, or no time at all. */
const EPOCH = /^-?\d{9,}(?:\.\d+)?$/;
/** Counts of this size and above are milliseconds: in seconds they would lie behind the year 5138. */
const LEAST_MILLISECONDS = 1e11;
const EXPONENT = /[eE]/;
const NOT_ZERO = /[1-9]/;

/**
 * Brings a time into ISO 8601 UTC, `YYYY-MM-DDTHH:MM:SS[.fraction]Z`; the fraction keeps the digits that it came with.
 *
 * A number is an epoch: seconds below 1e11, else milliseconds. A text of nine digits and more, with or without a
 * fraction, is one too; any other text is ISO 8601. Undefined for all else, for times that do not exist (2024-02-30,
 * 25:00), outside of the years 0000 to 9999, and for what is longer than 64 characters. 23:59:60 UTC does exist: it is a
 * leap second.
 */
export function toTimestamp(value: string | number): string | undefined {
  if (typeof value === 'number') return epochToTimestamp(String(value));
  if (value.length > MAX_LENGTH) return undefined;
  return EPOCH.test(value) ? epochToTimestamp(value) : isoToTimestamp(value);
}

/** As {@link toTimestamp}, of the text of a JSON number. */
export function epochToTimestamp(text: string): string | undefined {
  if (text.length > MAX_LENGTH) return undefined;
  if (EXPONENT.test(text)) {
    const plain = String(Number(text));
    return EXPONENT.test(plain) ? undefined : epochToTimestamp(plain);
  }
  const [whole = '', written = ''] = text.split('.');
  const isBefore = text.startsWith('-');
  if (Math.abs(Number(whole)) >= LEAST_MILLISECONDS) {
    const fraction = whole.slice(-3) + written;
    return secondsToTimestamp(Number(whole.slice(0, -3)), NOT_ZERO.test(fraction) ? fraction : '', isBefore);
  }
  return secondsToTimestamp(Number(whole), written, isBefore);
}

function secondsToTimestamp(whole: number, fraction: string, isBefore: boolean): string | undefined {
  if (!(isBefore && NOT_ZERO.test(fraction))) return utcText(whole, 0, 0, fraction);
  // Behind the second before it: a fraction of 25 ahead of it is one of 75.
  const behind = 10n ** BigInt(fraction.length) - BigInt(fraction);
  return utcText(whole - 1, 0, 0, String(behind).padStart(fraction.length, '0'));
}
