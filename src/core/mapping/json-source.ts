/** Reads of a valid JSON text what `JSON.parse` loses. No pattern over texts: V8 needs stack for each escape in one. */

const BACKSLASH = 0x5c;
const NUMBER = /-?\d[\d.eE+-]*/y;
const SYNTAX = /[.*+?^${}()|[\]\\/-]/g;

/**
 * Quotes each number that JavaScript would not print as written (`1.10`, `-0`); undefined if there are none. One pass at the cost
 * of `JSON.parse`; a reviver costs six times as much, and recurses.
 */
export function quoteInexactNumbers(json: string): string | undefined {
  let quoted = '';
  let copied = 0;
  let at = 0;
  while (at < json.length) {
    const character = json.charAt(at);
    if (character === '"') {
      at = endOfText(json, at);
    } else if (character === '-' || (character >= '0' && character <= '9')) {
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

function printsAsWritten(literal: string): boolean {
  const value = Number(literal);
  return isExact(value) && String(value) === literal;
}

/** Whether neighbouring integers of this size differ: otherwise an id could be another item's. */
export function isExact(value: number): boolean {
  return Math.abs(value) <= Number.MAX_SAFE_INTEGER;
}

/**
 * Returns whether a name at the start of `way` was written more often than it was parsed, as where an object has a member twice:
 * another parser takes the first, and this one the last.
 */
export function repeatsMember(json: string, body: unknown, way: readonly (string | number)[]): boolean {
  const end = way.findIndex((name) => typeof name !== 'string');
  const names = (end === -1 ? way : way.slice(0, end)).map(String);
  return names.some((name) => {
    // Behind a backslash, it is the end of another name.
    const pattern = `(?<!\\\\)${JSON.stringify(name).replace(SYNTAX, '\\$&')}\\s*:`;
    const { length = 0 } = json.match(new RegExp(pattern, 'g')) ?? [];
    return length > 1 && length > timesParsed(body, name);
  });
}

/** Pages may nest deeper than the call stack. */
function timesParsed(body: unknown, name: string): number {
  let times = 0;
  const open = [body];
  for (let value = open.pop(); value !== undefined; value = open.pop()) {
    if (typeof value !== 'object' || value === null) continue;
    if (!Array.isArray(value) && Object.hasOwn(value, name)) times += 1;
    for (const part of Object.values(value)) if (typeof part === 'object') open.push(part);
  }
  return times;
}

/** Returns the place behind the closing quote. */
function endOfText(json: string, start: number): number {
  let quote = json.indexOf('"', start + 1);
  while (isEscaped(json, quote)) quote = json.indexOf('"', quote + 1);
  return quote + 1;
}

function isEscaped(json: string, quote: number): boolean {
  let before = quote - 1;
  while (json.charCodeAt(before) === BACKSLASH) before -= 1;
  return (quote - before) % 2 === 0;
}
