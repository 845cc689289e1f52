const QUOTE = 0x22;
const PLUS = 0x2b;
const MINUS = 0x2d;
const POINT = 0x2e;
const ZERO = 0x30;
const NINE = 0x39;
const CAPITAL_E = 0x45;
const BACKSLASH = 0x5c;
const SMALL_E = 0x65;

/** Length of digits and point up to which every number prints as written: a double has 15 digits. */
const SAFE_LENGTH = 15;

/**
 * Quotes each number that JavaScript would not print as written (`1.10`, `1e3`, `-0`, `12345678901234567890`). Returns
 * the changed JSON, or undefined if there are none.
 *
 * `json` must be valid. One pass that skips strings: less than half of the cost of `JSON.parse`. A reviver costs six
 * times `JSON.parse` and recurses as deep as the text nests.
 */
export function quoteInexactNumbers(json: string): string | undefined {
  let quoted = '';
  let copied = 0;
  let at = 0;
  while (at < json.length) {
    const code = json.charCodeAt(at);
    if (code === QUOTE) {
      at = endOfString(json, at);
    } else if (isDigit(code) || code === MINUS) {
      const start = at;
      const integer = endOfDigits(json, start + 1);
      at = endOfNumber(json, integer);
      const isPlain =
        code !== MINUS && at - start <= SAFE_LENGTH && (at === integer || isPlainFraction(json, integer, at));
      if (!isPlain && !printsAsWritten(json.slice(start, at))) {
        quoted += `${json.slice(copied, start)}"${json.slice(start, at)}"`;
        copied = at;
      }
    } else {
      at += 1;
    }
  }
  return copied === 0 ? undefined : quoted + json.slice(copied);
}

function endOfString(json: string, start: number): number {
  let quote = json.indexOf('"', start + 1);
  while (isEscaped(json, quote)) quote = json.indexOf('"', quote + 1);
  return quote + 1;
}

function isEscaped(json: string, quote: number): boolean {
  let before = quote - 1;
  while (json.charCodeAt(before) === BACKSLASH) before -= 1;
  return (quote - before) % 2 === 0;
}

function endOfDigits(json: string, start: number): number {
  let end = start;
  while (isDigit(json.charCodeAt(end))) end += 1;
  return end;
}

/** After the integer part: nothing, or a point and digits, an exponent, or both. */
function endOfNumber(json: string, integerEnd: number): number {
  let end = integerEnd;
  while (isNumberPart(json.charCodeAt(end))) end += 1;
  return end;
}

/** Whether a fraction ends in a non-zero digit and starts with a digit, so that printing loses nothing. */
function isPlainFraction(json: string, integerEnd: number, end: number): boolean {
  return (
    json.charCodeAt(integerEnd) === POINT &&
    json.charCodeAt(integerEnd + 1) !== ZERO &&
    json.charCodeAt(end - 1) !== ZERO &&
    endOfDigits(json, integerEnd + 1) === end
  );
}

function printsAsWritten(literal: string): boolean {
  const value = Number(literal);
  return isExact(value) && String(value) === literal;
}

function isDigit(code: number): boolean {
  return code >= ZERO && code <= NINE;
}

function isNumberPart(code: number): boolean {
  return isDigit(code) || code === POINT || code === SMALL_E || code === CAPITAL_E || code === MINUS || code === PLUS;
}

/**
 * Returns whether a computed number is exact: finite, and below the size at which neighbouring integers are equal.
 * Beyond it, an id could become another item's.
 */
export function isExact(value: number): boolean {
  return Math.abs(value) <= Number.MAX_SAFE_INTEGER;
}
