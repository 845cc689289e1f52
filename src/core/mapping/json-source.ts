/** Reads of a valid JSON text what `JSON.parse` loses. No pattern over texts: V8 needs stack for each escape in one. */

const BACKSLASH = 0x5c;
const NUMBER = /-?\d[\d.eE+-]*/y;
const NAME_END = /\s*:\s*(\{?)/y;

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

/** Returns whether an object has a member twice that is on this way from the outermost value: another parser takes the first. */
export function repeatsMember(json: string, way: readonly (string | number)[]): boolean {
  const end = way.findIndex((name) => typeof name !== 'string');
  const names = end === -1 ? way : way.slice(0, end);
  // Most texts have the first name once.
  if (!names.some((name) => occursTwice(json, JSON.stringify(name)))) return false;
  const counts = names.map(() => 0);
  let depth = 0;
  /** Names of the way that enclose the place; the next is a member of the object at this depth. */
  let entered = 0;
  for (let at = 0; at < json.length; at += 1) {
    const character = json.charAt(at);
    if (character === '{' || character === '[') depth += 1;
    else if (character === '}' || character === ']') {
      depth -= 1;
      entered = Math.max(0, Math.min(entered, depth - 1));
    } else if (character === '"') {
      const begin = at;
      NAME_END.lastIndex = endOfText(json, begin);
      at = NAME_END.lastIndex - 1;
      const [colon, opens] = depth === entered + 1 ? (NAME_END.exec(json) ?? []) : [];
      if (colon === undefined || JSON.parse(json.slice(begin, at + 1)) !== names[entered]) continue;
      counts[entered] = (counts[entered] ?? 0) + 1;
      if (counts[entered] === 2) return true;
      if (entered + 1 < names.length && opens !== '') entered += 1;
    }
  }
  return false;
}

function occursTwice(json: string, name: string): boolean {
  const first = json.indexOf(name);
  return first !== -1 && json.indexOf(name, first + 1) !== -1;
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
