import { dayOfDate } from './calendar.ts';
import { utcText } from './utc-text.ts';

/** Where the fraction or the offset begins: behind `YYYY-MM-DDTHH:MM:SS`. */
const END_OF_SECONDS = 19;

/**
 * The form that nearly every platform sends, read without a regular expression: `2024-03-05T10:20:30`, with or without a
 * fraction behind a point, then `Z` or `+02:00`. A text that ends in `Z` is given back as it is. Undefined for any other
 * form, for what does not exist, and also for 24:00 and leap seconds.
 */
export function extendedToTimestamp(text: string): string | undefined {
  const isShaped = text[4] === '-' && text[7] === '-' && text[10] === 'T' && text[13] === ':' && text[16] === ':';
  if (!isShaped) return undefined;
  const year = 100 * twoDigits(text, 0) + twoDigits(text, 2);
  const hour = twoDigits(text, 11);
  const minute = twoDigits(text, 14);
  const second = twoDigits(text, 17);
  if (!(year >= 0 && hour <= 23 && minute <= 59 && second <= 59)) return undefined;
  const day = dayOfDate(year, twoDigits(text, 5), twoDigits(text, 8));
  const end = endOfFraction(text);
  if (day === undefined || end === undefined) return undefined;
  if (text[end] === 'Z' && text.length === end + 1) return text;
  const ahead = offsetMinutes(text, end);
  return ahead === undefined
    ? undefined
    : utcText(day, 60 * hour + minute - ahead, second, text.slice(END_OF_SECONDS + 1, end));
}

function endOfFraction(text: string): number | undefined {
  if (text[END_OF_SECONDS] !== '.') return END_OF_SECONDS;
  let end = END_OF_SECONDS + 1;
  while (isDigit(text.charCodeAt(end))) end += 1;
  return end > END_OF_SECONDS + 1 ? end : undefined;
}

function offsetMinutes(text: string, start: number): number | undefined {
  const sign = text[start];
  const hour = twoDigits(text, start + 1);
  const minute = twoDigits(text, start + 4);
  const isOffset = (sign === '+' || sign === '-') && text[start + 3] === ':' && text.length === start + 6;
  if (!(isOffset && hour <= 23 && minute <= 59)) return undefined;
  return sign === '+' ? 60 * hour + minute : -60 * hour - minute;
}

/** The number that two digits make; NaN where there is anything else. */
function twoDigits(text: string, at: number): number {
  const tens = text.charCodeAt(at);
  const ones = text.charCodeAt(at + 1);
  return isDigit(tens) && isDigit(ones) ? 10 * (tens - 0x30) + ones - 0x30 : Number.NaN;
}

function isDigit(code: number): boolean {
  return code >= 0x30 && code <= 0x39;
}
