import { isObject, type Json } from '../../core/kernel/json-shape.ts';
import { DOCUMENT, VALUE } from '../input-bounds.ts';

/** What a schema says of a JSON value. */
export interface Shape {
  readonly type: 'object' | 'list' | 'text' | 'number' | 'boolean' | 'unknown';
  readonly members: ReadonlyMap<string, Shape>;
  readonly items?: Shape;
  /** A text of the format of a URL. */
  readonly isUri?: true;
  /** Described in another file, which is not read. */
  readonly isElsewhere?: true;
}

const UNKNOWN: Shape = { type: 'unknown', members: new Map() };

export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** Replaces `{ $ref }` by what it refers to within the document: `undefined` for nothing, `elsewhere` for another file. */
export type Resolve = (value: unknown) => Json | 'elsewhere' | undefined;

/** Returns the shape that a JSON schema describes (OpenAPI 2.0, 3.0 and 3.1), cut off at the bounds. */
export function shapeOfSchema(schema: unknown, resolve: Resolve): Shape {
  let schemas = 0;
  const visit = (value: unknown, depth: number): Shape => {
    schemas += 1;
    const found = resolve(value);
    if (found === 'elsewhere') return { ...UNKNOWN, isElsewhere: true };
    if (found === undefined || depth > VALUE.depth || schemas > DOCUMENT.schemasOfReply) return UNKNOWN;
    const parts = ['allOf', 'oneOf', 'anyOf'].flatMap((key) => listOf(found[key]));
    return parts.map((each) => visit(each, depth + 1)).reduce(merge, shallow(found, depth, visit));
  };
  return visit(schema, 0);
}

const TYPES: Readonly<Record<string, Shape['type']>> = {
  object: 'object',
  array: 'list',
  string: 'text',
  integer: 'number',
  number: 'number',
  boolean: 'boolean',
};

function shallow(schema: Json, depth: number, visit: (value: unknown, depth: number) => Shape): Shape {
  const properties = isObject(schema['properties']) ? Object.entries(schema['properties']).filter(isPlain) : [];
  const members = new Map(properties.map(([name, value]) => [name, visit(value, depth + 1)]));
  const items = schema['items'] === undefined ? undefined : visit(schema['items'], depth + 1);
  const named = [schema['type']].flat().flatMap((type) => TYPES[String(type)] ?? [])[0];
  const implied = members.size > 0 ? 'object' : items !== undefined ? 'list' : 'unknown';
  const isUri = /^ur[il]/.test(textOf(schema['format']));
  return { type: named ?? implied, members, ...(isUri && { isUri }), ...(items !== undefined && { items }) };
}

/** Whether an expression can hold the name of a member as it is. */
function isPlain([name]: readonly [string, unknown]): boolean {
  return /^[\x20-\x21\x23-\x5b\x5d-\x7e]{1,100}$/.test(name);
}

function merge(a: Shape, b: Shape): Shape {
  const members = new Map(a.members);
  for (const [name, shape] of b.members) {
    const known = members.get(name);
    members.set(name, known === undefined ? shape : merge(known, shape));
  }
  const items = a.items !== undefined && b.items !== undefined ? merge(a.items, b.items) : (a.items ?? b.items);
  return {
    type: a.type === 'unknown' ? b.type : a.type,
    members,
    ...(items !== undefined && { items }),
    ...((a.isUri || b.isUri) && { isUri: true }),
    ...((a.isElsewhere || b.isElsewhere) && { isElsewhere: true }),
  };
}

/** Returns the JMESPath expression that selects the member at `path`. */
export function expressionOf(path: readonly string[]): string {
  if (path.length === 0) return '@';
  return path.map((key) => (/^[A-Za-z_]\w*$/.test(key) ? key : JSON.stringify(key))).join('.');
}

/** Returns a name without case and separators: `created_at` becomes `createdat`. */
export function plainName(name = ''): string {
  return name.toLowerCase().replace(/[^a-z0-9]/g, '');
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
    for (const [key, member] of shape.members) {
      if (members.length > MAX_MEMBERS) return members;
      members.push({ path: [...path, key], shape: member });
    }
  }
  return members.slice(1);
}
