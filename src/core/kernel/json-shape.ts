const QUOTE = 0x22;
const COMMA = 0x2c;
const BACKSLASH = 0x5c;
const OPEN_LIST = 0x5b;
const CLOSE_LIST = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

export type Json = Readonly<Record<string, unknown>>;

export function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Parses JSON. Returns undefined for anything else. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/**
 * Returns the bound that a JSON text exceeds: parsed, it can take thirty times its bytes. `maxValues`: objects, lists and members,
 * approximately (`[1,2]` has three, `{"a":1}` has one). Takes 1 ms per MiB.
 */
export function excessOf(json: Uint8Array, { maxValues, maxLevels }: Record<'maxValues' | 'maxLevels', number>) {
  let values = 0;
  let level = 0;
  for (let at = 0; at < json.length; at += 1) {
    switch (json[at]) {
      case QUOTE:
        at = endOfText(json, at);
        break;
      case OPEN_LIST:
      case OPEN_OBJECT:
        level += 1;
        values += 1;
        if (level > maxLevels) return 'levels';
        break;
      case CLOSE_LIST:
      case CLOSE_OBJECT:
        level -= 1;
        break;
      case COMMA:
        values += 1;
    }
    if (values > maxValues) return 'values';
  }
  return undefined;
}

/** The next quote after an even number of backslashes. */
function endOfText(json: Uint8Array, start: number): number {
  let at = start + 1;
  while (at < json.length && json[at] !== QUOTE) at += json[at] === BACKSLASH ? 2 : 1;
  return at;
}
