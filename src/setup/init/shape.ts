import { isObject, type Json } from '../../core/kernel/json-shape.ts';

/** What a schema says of a JSON value. Members and items are read when asked for. */
export interface Shape {
  readonly type: 'object' | 'list' | 'text' | 'number' | 'boolean' | 'unknown';
  readonly members: () => ReadonlyMap<string, Shape>;
  readonly items: () => Shape | undefined;
  /** A text of the format of a URL. */
  readonly isUri: boolean;
  /** Described in another file, which is not read. */
  readonly isElsewhere: boolean;
}

export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** Replaces `{ $ref }` by what it refers to within the document. A reference to another file stays. */
export type Resolve = (value: unknown) => Json | undefined;

const TYPES: Readonly<Record<string, Shape['type']>> = {
  object: 'object',
  array: 'list',
  string: 'text',
  integer: 'number',
  number: 'number',
  boolean: 'boolean',
};

/** Returns the shape that a JSON schema describes (OpenAPI 2.0, 3.0 and 3.1). */
export function shapeOf(schema: unknown, resolve: Resolve): Shape {
  const parts = partsOf(schema, resolve, new Set());
  const properties = parts.flatMap((part) => (isObject(part['properties']) ? Object.entries(part['properties']) : []));
  const items = parts.map((part) => part['items']).find((each) => each !== undefined);
  const named = parts.flatMap((part) => [part['type']].flat()).flatMap((type) => TYPES[String(type)] ?? [])[0];
  const implied = properties.length > 0 ? 'object' : items !== undefined ? 'list' : 'unknown';
  return {
    type: named ?? implied,
    members: () => new Map(properties.filter(isPlain).map(([name, value]) => [name, shapeOf(value, resolve)])),
    items: () => (items === undefined ? undefined : shapeOf(items, resolve)),
    isUri: parts.some((part) => /^ur[il]/.test(textOf(part['format']))),
    isElsewhere: parts.some((part) => '$ref' in part),
  };
}

const MAX_PARTS = 100;

/** Returns a schema and all those that it combines, each once. */
function partsOf(schema: unknown, resolve: Resolve, seen: Set<Json>): Json[] {
  const found = resolve(schema);
  if (found === undefined || seen.has(found) || seen.size === MAX_PARTS) return [];
  seen.add(found);
  const combined = ['allOf', 'oneOf', 'anyOf'].flatMap((key) => listOf(found[key]));
  return [found, ...combined.flatMap((part) => partsOf(part, resolve, seen))];
}

/** Whether an expression can hold the name of a member as it is. */
function isPlain([name]: readonly [string, unknown]): boolean {
  return /^[\x20-\x21\x23-\x5b\x5d-\x7e]{1,100}$/.test(name);
}

/** Returns the JMESPath expression that selects the member at `path`. */
export function expressionOf(path: readonly string[]): string {
  if (path.length === 0) return '@';
  return path.map((key) => (/^[A-Za-z_]\w*$/.test(key) ? key : JSON.stringify(key))).join('.');
}

export interface Member {
  readonly path: readonly string[];
  readonly shape: Shape;
}

const MAX_DEPTH = 4;
const MAX_MEMBERS = 2000;

/** Returns the members of a body outside its lists, those nearest to the top first. */
export function membersOf(body: Shape): Member[] {
  const members: Member[] = [{ path: [], shape: body }];
  for (const { path, shape } of members) {
    if (path.length === MAX_DEPTH) continue;
    for (const [key, member] of shape.members()) {
      if (members.length > MAX_MEMBERS) return members;
      members.push({ path: [...path, key], shape: member });
    }
  }
  return members.slice(1);
}
