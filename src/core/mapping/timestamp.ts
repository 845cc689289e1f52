import { utcText } from './calendar.ts';
import { isoToTimestamp } from './iso-8601.ts';

/** Longest text that is parsed as a time, so that an upstream cannot decide how long parsing takes. */
const MAX_LENGTH = 64;
/** Nine digits and more: fewer are a year, an ordinal or a basic date. */
const EPOCH = /^-?\d{9,}(?:\.\d+)?$/;
/** Numbers from this size on are milliseconds: as seconds they would be beyond the year 5138. */
const LEAST_MILLISECONDS = 1e11;
const EXPONENT = /[eE]/;
const NOT_ZERO = /[1-9]/;

/**
 * Converts a time to ISO 8601 UTC, `YYYY-MM-DDTHH:MM:SS[.fraction]Z`, with all its fraction digits.
 *
 * A number is an epoch: seconds below 1e11, otherwise milliseconds. So is a text of nine digits and more, with or
 * without a fraction; other texts are ISO 8601. Returns undefined for all else, for times that do not exist
 * (2024-02-30, 25:00), outside the years 0000 to 9999, and above 64 characters. 23:59:60 UTC exists: it is a leap
 * second.
 */
export function toTimestamp(value: string | number): string | undefined {
  if (typeof value === 'number') return epochToTimestamp(String(value));
  if (value.length > MAX_LENGTH) return undefined;
  return EPOCH.test(value) ? epochToTimestamp(value) : isoToTimestamp(value);
}

/** As {@link toTimestamp}, for the text of a JSON number. */
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
  // Relative to the second before: a fraction of 25 before it is one of 75 after.
  const behind = 10n ** BigInt(fraction.length) - BigInt(fraction);
  return utcText(whole - 1, 0, 0, String(behind).padStart(fraction.length, '0'));
}
