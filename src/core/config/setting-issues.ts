import { z } from 'zod';
import { didYouMean, dottedPath, type Finding } from './config-error.ts';

type RawIssue = z.core.$ZodRawIssue;

/** The types of zod, in words of a YAML file. */
const TYPES: Readonly<Record<string, string>> = {
  object: 'a block of keys',
  record: 'a block of keys',
  array: 'a list',
  string: 'text',
  number: 'a number',
  boolean: 'true or false',
};

/** Returns what is wrong with settings, or their value. Messages contain no value, because it may be secret. */
export function checkWith<Schema extends z.ZodType>(
  schema: Schema,
  input: unknown,
): { readonly settings: z.output<Schema> } | { readonly findings: readonly Finding[] } {
  // Settings are read once: to compile the schema takes longer.
  const { success, data, error } = schema.safeParse(input, {
    error: (issue) => messageOf(issue, schema),
    jitless: true,
  });
  return success ? { settings: data } : { findings: error.issues.flatMap((issue) => findingsOf(issue)) };
}

/** Returns the message of an issue whose cause zod names in words of JavaScript. */
function messageOf(issue: RawIssue, schema: z.ZodType): string | undefined {
  switch (issue.code) {
    case 'invalid_type':
      return typeMessage(issue);
    case 'invalid_value':
      return `must be one of ${issue.values.join(', ')}`;
    case 'invalid_union':
      return issue.discriminator === undefined ? undefined : `must be one of ${(issue.options as string[]).join(', ')}`;
    case 'unrecognized_keys': {
      const known = Object.keys(Object(issue.inst).shape);
      const cureOf = (key: string) => didYouMean(key, known) || otherPlace(key, known, issue.path ?? [], schema);
      return issue.keys.map((key) => `Unrecognized key${cureOf(key)}`).join('\n');
    }
    default:
      return undefined;
  }
}

function typeMessage({ expected, input, path }: RawIssue & { readonly code: 'invalid_type' }): string {
  if (input === undefined) return 'is required';
  const key = String(path?.at(-1));
  const unit = key.endsWith('Ms') ? ' of milliseconds' : key.endsWith('Bytes') ? ' of bytes' : '';
  const wanted = `must be ${TYPES[expected] ?? expected}${expected === 'number' ? unit : ''}`;
  const kind = Array.isArray(input) ? 'array' : typeof input;
  if (input === null) return `${wanted}, and is empty`;
  const isScalar = kind === 'number' || kind === 'boolean';
  if (expected === 'string' && isScalar) return `${wanted}: put it in quotes`;
  if (kind !== 'string') return `${wanted}, not ${kind === 'boolean' ? 'a boolean' : (TYPES[kind] ?? kind)}`;
  return `${wanted}, ${HINTS[expected] ?? 'not text: write each key as "key: value"'}`;
}

/** What to write in place of a text. */
const HINTS: Readonly<Record<string, string>> = {
  array: 'such as [a, b]',
  number: 'without quotes and unit',
  boolean: 'without quotes',
};

const OR = new Intl.ListFormat('en', { type: 'disjunction' });

/** Most places, or keys of a block, that a message names. */
const MAX_NAMED = 12;

/** Says which other block has an unknown key, or which keys this one has. */
function otherPlace(key: string, known: readonly string[], block: readonly PropertyKey[], schema: z.ZodType): string {
  const isHere = (place: readonly string[]) =>
    place.length === block.length && place.every((step, index) => step === 'NAME' || step === block[index]);
  const all = placesOf(key, z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }));
  const listed = known.length <= MAX_NAMED ? `; known are ${known.join(', ')}` : '';
  if (all.some(isHere)) return `; it is a key of another kind${listed}`;
  const beside = all.filter(([first]) => first === block[0]);
  const places = beside.length > 0 ? beside : all;
  const shortest = Math.min(...places.map(({ length }) => length));
  const nearest = new Set(places.filter(({ length }) => length === shortest).map(dottedPath));
  if (nearest.has('')) return '; it is a key of the top level';
  if (nearest.size > 0 && nearest.size <= 3) return `; it is a key of ${OR.format(nearest)}`;
  return listed;
}

type JsonSchema = z.core.JSONSchema.BaseSchema;

/** Returns the paths of all blocks that have a key of this name. */
function placesOf(key: string, schema: JsonSchema | boolean | undefined, path: readonly string[] = []): string[][] {
  if (typeof schema !== 'object') return [];
  const { properties = {}, additionalProperties, anyOf = [], oneOf = [] } = schema;
  return [
    ...(Object.hasOwn(properties, key) ? [[...path]] : []),
    ...Object.entries(properties).flatMap(([name, child]) => placesOf(key, child, [...path, name])),
    ...placesOf(key, additionalProperties, [...path, 'NAME']),
    ...[...anyOf, ...oneOf].flatMap((option) => placesOf(key, option, path)),
  ];
}

function findingsOf(issue: z.core.$ZodIssue, above: Finding['path'] = []): Finding[] {
  // No key is a symbol.
  const path = [...above, ...(issue.path as (string | number)[])];
  switch (issue.code) {
    case 'unrecognized_keys': {
      const messages = issue.message.split('\n');
      return issue.keys.map((key, index) => ({ path: [...path, key], key: true, message: messages[index] ?? '' }));
    }
    case 'invalid_key':
      return issue.issues.map(({ message }) => ({ path, key: true, message }));
    case 'invalid_union': {
      // Of a text or a block, the one that was written.
      const written = issue.errors.find(
        (option) => !option.some((inner) => inner.code === 'invalid_type' && inner.path.length === 0),
      );
      return written?.flatMap((inner) => findingsOf(inner, path)) ?? [{ path, message: issue.message }];
    }
    default:
      return [{ path, message: issue.message }];
  }
}
