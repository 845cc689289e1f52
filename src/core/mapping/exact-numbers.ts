const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const NUMBER = /-?\d[\d.eE+-]*/y;

/**
 * Quotes each number that JavaScript would not print as written (`1.10`, `-0`); undefined if there are none. `json` must be
 * valid. One pass at the cost of `JSON.parse`; a reviver costs six times as much, and recurses.
 */
export function quoteInexactNumbers(json: string): string | undefined {
  let quoted = '';
  let copied = 0;
  let at = 0;
  while (at < json.length) {
    const code = json.charCodeAt(at);
    if (code === QUOTE) {
      at = endOfString(json, at);
    } else if (startsNumber(code)) {
      NUMBER.lastIndex = at;
      const [literal = ''] = NUMBER.exec(json) ?? [];
      if (!printsAsWritten(literal)) {
        quoted += `${json.slice(copied, at)}"${literal}"`;
        copied = at + literal.length;
      }
      at += literal.length;
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

function startsNumber(code: number): boolean {
  return (code >= 0x30 && code <= 0x39) || code === 0x2d;
}

function printsAsWritten(literal: string): boolean {
  const value = Number(literal);
  return isExact(value) && String(value) === literal;
}

/** Whether neighbouring integers of this size differ: otherwise an id could be another item's. */
export function isExact(value: number): boolean {
  return Math.abs(value) <= Number.MAX_SAFE_INTEGER;
}
