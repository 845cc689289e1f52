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
  let places: ReturnType<typeof placesOfKeys> | undefined;
  const placesOf: PlacesOf = (key) => {
    places ??= placesOfKeys(z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }));
    return places.get(key) ?? [];
  };
  // Settings are read once: to compile the schema takes longer.
  const { success, data, error } = schema.safeParse(input, {
    error: (issue) => messageOf(issue, placesOf),
    jitless: true,
  });
  return success ? { settings: data } : { findings: error.issues.flatMap((issue) => findingsOf(issue)) };
}

/** Returns the message of an issue whose cause zod names in words of JavaScript. */
function messageOf(issue: RawIssue, placesOf: PlacesOf): string | undefined {
  switch (issue.code) {
    case 'invalid_type':
      return typeMessage(issue);
    case 'invalid_value':
      return `must be one of ${issue.values.join(', ')}`;
    case 'invalid_union':
      return issue.discriminator === undefined ? undefined : `must be one of ${(issue.options as string[]).join(', ')}`;
    case 'unrecognized_keys': {
      const known = Object.keys(Object(issue.inst).shape);
      const cureOf = (key: string) => didYouMean(key, known) || otherPlace(placesOf(key), known, issue.path ?? []);
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
function otherPlace(all: readonly Place[], known: readonly string[], block: readonly PropertyKey[]): string {
  const isHere = (place: Place) =>
    place.length === block.length && place.every((step, index) => step === 'NAME' || step === block[index]);
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
/** The path of a block; a name that is free is `NAME`. */
type Place = readonly string[];
type PlacesOf = (key: string) => readonly Place[];

/** Returns the places of all blocks that have a key, by keys. */
function placesOfKeys(root: JsonSchema): ReadonlyMap<string, readonly Place[]> {
  const places = new Map<string, Place[]>();
  const visit = (schema: JsonSchema | boolean | undefined, place: Place): void => {
    if (typeof schema !== 'object') return;
    const { properties = {}, additionalProperties, anyOf = [], oneOf = [] } = schema;
    for (const [key, child] of Object.entries(properties)) {
      places.set(key, [...(places.get(key) ?? []), place]);
      visit(child, [...place, key]);
    }
    visit(additionalProperties, [...place, 'NAME']);
    for (const option of [...anyOf, ...oneOf]) visit(option, place);
  };
  visit(root, []);
  return places;
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
