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

/** Members of an object that are read to learn what a reply says: those around a list are some dozens. */
const MAX_MEMBERS = 1000;

/** Returns the members of an object that says something about a reply; of a huge one, the first. */
export function membersOf(object: object): [name: string, value: unknown][] {
  const members: [string, unknown][] = [];
  for (const name in object) {
    if (members.length === MAX_MEMBERS) break;
    members.push([name, Reflect.get(object, name)]);
  }
  return members;
}

/** Returns a name without separators and in lower case, as names of members and headers are compared. */
export function plainName(name: string): string {
  return name.replace(/[^A-Za-z0-9]/g, '').toLowerCase();
}

/** Parses JSON. Returns undefined for anything else. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

interface ShapeBounds {
  /** Objects, lists and members, approximately (`[1,2]` has three, `{"a":1}` has one). */
  readonly maxValues: number;
  /** Bound on the members of one object, which take ten times as long as those of a list. @default as many */
  readonly maxMembers?: number;
  readonly maxLevels: number;
}

/** Returns the bound that a JSON text exceeds: parsed, it can take thirty times its bytes. Takes 1 ms per MiB. */
export function excessOf(json: Uint8Array, { maxValues, maxMembers = maxValues, maxLevels }: ShapeBounds) {
  let values = 0;
  /** Members so far of each open object; a list has none. */
  const open: number[] = [];
  let members = 0;
  for (let at = 0; at < json.length; at += 1) {
    switch (json[at]) {
      case QUOTE:
        at = endOfText(json, at);
        break;
      case OPEN_LIST:
      case OPEN_OBJECT:
        open.push(members);
        members = json[at] === OPEN_LIST ? Number.NEGATIVE_INFINITY : 1;
        values += 1;
        if (open.length > maxLevels) return 'levels';
        break;
      case CLOSE_LIST:
      case CLOSE_OBJECT:
        members = open.pop() ?? 0;
        break;
      case COMMA:
        members += 1;
        values += 1;
    }
    if (values > maxValues || members > maxMembers) return 'values';
  }
  return undefined;
}

/** The next quote after an even number of backslashes. */
function endOfText(json: Uint8Array, start: number): number {
  let at = start + 1;
  while (at < json.length && json[at] !== QUOTE) at += json[at] === BACKSLASH ? 2 : 1;
  return at;
}
