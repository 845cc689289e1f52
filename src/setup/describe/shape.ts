import { isObject, type Json } from '../../core/kernel/json-shape.ts';
import { DOCUMENT, VALUE } from '../input-bounds.ts';

/** What is known of a JSON value: from a schema that describes it, or from the value itself. */
export interface Shape {
  readonly type: 'object' | 'list' | 'text' | 'number' | 'boolean' | 'unknown';
  readonly members: ReadonlyMap<string, Shape>;
  readonly items?: Shape;
  /** Of a value that was seen: the scalar itself. */
  readonly value?: string | number | boolean | null;
  /** Of a value that was seen: the number of items of a list, or of members of an object. */
  readonly count?: number;
}

export const UNKNOWN: Shape = { type: 'unknown', members: new Map() };

export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** Replaces `{ $ref }` by what it refers to within the document. Undefined if there is nothing, or it is elsewhere. */
export type Resolve = (value: unknown) => Json | undefined;

/** Returns the shape that a JSON schema describes (OpenAPI 2.0, 3.0 and 3.1), cut off at the bounds. */
export function shapeOfSchema(schema: unknown, resolve: Resolve): Shape {
  let schemas = 0;
  const visit = (value: unknown, depth: number): Shape => {
    schemas += 1;
    const found = resolve(value);
    if (found === undefined || depth > VALUE.depth || schemas > DOCUMENT.schemasOfReply) return UNKNOWN;
    const parts = ['allOf', 'oneOf', 'anyOf'].flatMap((key) => listOf(found[key]));
    return parts.map((each) => visit(each, depth + 1)).reduce(merge, shallow(found, depth, visit));
  };
  return visit(schema, 0);
}

function shallow(schema: Json, depth: number, visit: (value: unknown, depth: number) => Shape): Shape {
  const types = [schema['type']].flat();
  const properties = isObject(schema['properties']) ? Object.entries(schema['properties']).filter(isPlain) : [];
  const members = new Map(properties.map(([name, value]) => [name, visit(value, depth + 1)]));
  const items = schema['items'] === undefined ? undefined : visit(schema['items'], depth + 1);
  const named = types.flatMap((type) => (Object.hasOwn(TYPES, String(type)) ? [TYPES[String(type)]] : []))[0];
  const implied = members.size > 0 ? 'object' : items !== undefined ? 'list' : 'unknown';
  return { type: named ?? implied, members, ...(items !== undefined && { items }) };
}

/** Whether an expression can hold the name of a member as it is. */
function isPlain([name]: readonly [string, unknown]): boolean {
  return /^[\x20-\x21\x23-\x5b\x5d-\x7e]{1,100}$/.test(name);
}

const TYPES: Readonly<Record<string, Shape['type']>> = {
  object: 'object',
  array: 'list',
  string: 'text',
  integer: 'number',
  number: 'number',
  boolean: 'boolean',
};

function merge(a: Shape, b: Shape): Shape {
  const members = new Map(a.members);
  for (const [name, shape] of b.members) {
    const known = members.get(name);
    members.set(name, known === undefined ? shape : merge(known, shape));
  }
  const items = a.items !== undefined && b.items !== undefined ? merge(a.items, b.items) : (a.items ?? b.items);
  const type = a.type === 'unknown' ? b.type : a.type;
  return { type, members, ...(items !== undefined && { items }) };
}

/** Returns the shape of a value that was seen. A member that is missing or null in one item of a list is optional. */
export function shapeOfValue(value: unknown, depth = 0): Shape {
  if (value === undefined || depth > VALUE.depth) return UNKNOWN;
  if (Array.isArray(value)) {
    const shapes = value.slice(0, VALUE.items).map((item) => shapeOfValue(item, depth + 1));
    return { ...UNKNOWN, type: 'list', items: shapes.reduce(merge, UNKNOWN), count: value.length };
  }
  if (isObject(value)) {
    const entries = Object.entries(value);
    const members = entries.filter(isPlain).slice(0, VALUE.members);
    const shapes = new Map(members.map(([name, member]) => [name, shapeOfValue(member, depth + 1)]));
    return { ...UNKNOWN, type: 'object', members: shapes, count: entries.length };
  }
  const scalar = value as string | number | boolean | null;
  const type = typeof scalar === 'string' ? 'text' : typeof scalar;
  return { ...UNKNOWN, type: type === 'object' ? 'unknown' : (type as Shape['type']), value: scalar };
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
