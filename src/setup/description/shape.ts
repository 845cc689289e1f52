/** What is known of a JSON value ahead of time: from a schema, or from values that were seen. */
export interface Shape {
  readonly type: 'object' | 'list' | 'text' | 'number' | 'boolean' | 'unknown';
  /** Of an object, by name. */
  readonly members: ReadonlyMap<string, Shape>;
  /** Of a list: its items. */
  readonly items?: Shape;
  /** All texts that it may be, where that is told. */
  readonly values: readonly string[];
  /** Whether it may be null, or be missing. */
  readonly optional: boolean;
}

export const UNKNOWN: Shape = { type: 'unknown', members: new Map(), values: [], optional: false };

/** A JSON object, of which nothing is known. */
export type Json = Readonly<Record<string, unknown>>;

export function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** Replaces `{ $ref }` by what it refers to, within the document. Undefined where that is nothing, or elsewhere. */
export type Resolve = (value: unknown) => Json | undefined;

/** Deeper than any list stands in a body, with the members of its items; schemas that refer to themselves end here. */
const MAX_DEPTH = 6;
/** Members and alternatives of one schema that are looked at. */
const MAX_PARTS = 4000;

/** How much of a document may still be looked at. */
export interface Budget {
  parts: number;
}

/** The shape that a JSON schema describes (OpenAPI 2, 3.0 and 3.1). Cut off where it goes too deep or too wide. */
export function shapeOfSchema(schema: unknown, resolve: Resolve, budget: Budget = { parts: MAX_PARTS }): Shape {
  const least = budget.parts - MAX_PARTS;
  const visit = (value: unknown, depth: number): Shape => {
    budget.parts -= 1;
    const found = resolve(value);
    if (found === undefined || depth > MAX_DEPTH || budget.parts < Math.max(0, least)) return UNKNOWN;
    const alternatives = [...listOf(found['oneOf']), ...listOf(found['anyOf'])];
    const whole = [...listOf(found['allOf']), ...alternatives].map((each) => visit(each, depth + 1));
    return [shallow(found, depth, visit), ...whole].reduce(merge);
  };
  return visit(schema, 0);
}

function shallow(schema: Json, depth: number, visit: (value: unknown, depth: number) => Shape): Shape {
  const types = [schema['type']].flat();
  const optional = schema['nullable'] === true || schema['x-nullable'] === true || types.includes('null');
  const properties = isObject(schema['properties']) ? Object.entries(schema['properties']).filter(isPlain) : [];
  const members = new Map(properties.map(([name, value]) => [name, visit(value, depth + 1)]));
  const items = schema['items'] === undefined ? undefined : visit(schema['items'], depth + 1);
  const listed = schema['const'] === undefined ? listOf(schema['enum']) : [schema['const']];
  const values = listed.map(textOf).filter((value) => value !== '' && value.length <= 100);
  const type = typeOf(types, members.size > 0, items !== undefined, values.length > 0);
  return { type, members, values, optional, ...(items !== undefined && { items }) };
}

/** Whether a member has a name that an expression can hold as it is: all real ones do. */
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

function typeOf(types: readonly unknown[], hasMembers: boolean, hasItems: boolean, hasValues: boolean): Shape['type'] {
  const named = types.find((type) => typeof type === 'string' && Object.hasOwn(TYPES, type));
  if (named !== undefined) return TYPES[String(named)] ?? 'unknown';
  if (hasMembers) return 'object';
  if (hasItems) return 'list';
  return hasValues ? 'text' : 'unknown';
}

/** All that either of two shapes tells. */
function merge(a: Shape, b: Shape): Shape {
  const members = new Map(a.members);
  for (const [name, shape] of b.members) {
    const there = members.get(name);
    members.set(name, there === undefined ? shape : merge(there, shape));
  }
  const items = a.items !== undefined && b.items !== undefined ? merge(a.items, b.items) : (a.items ?? b.items);
  const type = a.type === 'unknown' ? b.type : a.type;
  const values = [...new Set([...a.values, ...b.values])];
  return { type, members, values, optional: a.optional || b.optional, ...(items !== undefined && { items }) };
}

/** Items of a list, and members of an object, that are looked at. */
const MAX_ITEMS = 20;
const MAX_MEMBERS = 500;

/** The shape of a value that was seen. What is missing or null in one item of a list is optional. */
export function shapeOfValue(value: unknown, depth = 0): Shape {
  if (value === null || value === undefined || depth > MAX_DEPTH) return { ...UNKNOWN, optional: value === null };
  if (Array.isArray(value)) {
    const shapes = value.slice(0, MAX_ITEMS).map((item) => shapeOfValue(item, depth + 1));
    const items = shapes.length === 0 ? UNKNOWN : shapes.reduce(mergeSeen);
    return { ...UNKNOWN, type: 'list', items };
  }
  if (isObject(value)) {
    const members = Object.entries(value).filter(isPlain).slice(0, MAX_MEMBERS);
    return { ...UNKNOWN, type: 'object', members: new Map(members.map(([k, v]) => [k, shapeOfValue(v, depth + 1)])) };
  }
  const type = typeof value;
  return { ...UNKNOWN, type: type === 'string' ? 'text' : type === 'number' || type === 'boolean' ? type : 'unknown' };
}

function mergeSeen(a: Shape, b: Shape): Shape {
  const merged = merge(a, b);
  const members = new Map(merged.members);
  for (const [name, shape] of members) {
    if (!a.members.has(name) || !b.members.has(name)) members.set(name, { ...shape, optional: true });
  }
  return { ...merged, members };
}
