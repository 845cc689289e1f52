import { utcText } from './utc-text.ts';

/** Counts of this size and above are milliseconds: in seconds they would lie behind the year 5138. */
const LEAST_MILLISECONDS = 1e11;
const SECONDS_OF_DAY = 86_400;

const EXPONENT = /[eE]/;
const NOT_ZERO = /[1-9]/;

/**
 * Seconds or milliseconds since 1970-01-01T00:00:00Z, as the text of a JSON number, to ISO 8601 UTC. Digits behind the
 * point are kept as they stand. Undefined outside of the years 0000 to 9999.
 */
export function epochToTimestamp(text: string): string | undefined {
  if (EXPONENT.test(text)) return exponentToTimestamp(text);
  const point = text.indexOf('.');
  const whole = point < 0 ? text : text.slice(0, point);
  const written = point < 0 ? '' : text.slice(point + 1);
  const isBefore = text.startsWith('-');
  if (Math.abs(Number(whole)) >= LEAST_MILLISECONDS) {
    const fraction = whole.slice(-3) + written;
    return secondsToTimestamp(Number(whole.slice(0, -3)), NOT_ZERO.test(fraction) ? fraction : '', isBefore);
  }
  return secondsToTimestamp(Number(whole), written, isBefore);
}

function exponentToTimestamp(text: string): string | undefined {
  const plain = String(Number(text));
  return EXPONENT.test(plain) ? undefined : epochToTimestamp(plain);
}

function secondsToTimestamp(whole: number, fraction: string, isBefore: boolean): string | undefined {
  if (isBefore && NOT_ZERO.test(fraction)) return secondsToTimestamp(whole - 1, complement(fraction), false);
  const day = Math.floor(whole / SECONDS_OF_DAY);
  const second = whole - day * SECONDS_OF_DAY;
  return utcText(day, Math.floor(second / 60), second % 60, fraction);
}

/** What is left of a second behind a fraction that is not zero: 25 gives 75. Digit by digit, since there may be many. */
function complement(fraction: string): string {
  let last = fraction.length - 1;
  while (fraction[last] === '0') last -= 1;
  let digits = '';
  for (let index = 0; index < last; index += 1) digits += 9 - Number(fraction[index]);
  return `${digits}${10 - Number(fraction[last])}${fraction.slice(last + 1)}`;
}
