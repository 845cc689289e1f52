import { z } from 'zod';
import { closest, didYouMean, isSlip } from './close-words.ts';
import { MAX_LISTED_ISSUES } from './config-error.ts';
import { removedKey } from './removed-keys.ts';

/** What settings call the types that zod names. Every number in settings is whole. */
const TYPES: Readonly<Record<string, string>> = {
  string: 'text',
  number: 'a whole number',
  boolean: 'true or false',
  object: 'a block of keys',
  record: 'a block of keys',
  array: 'a list',
};

/** Text that would be of the type but for its quotes. */
const QUOTED: Readonly<Record<string, RegExp>> = { 'a whole number': /^\d+$/, 'true or false': /^(?:true|false)$/ };

/** A number with a unit, as `15s`, `1.5 h` or `128MiB`. */
const WITH_UNIT = /^\d+(?:[.,]\d+)? ?[a-zµ]{1,12}$/i;
const UNITS: Readonly<Record<string, string>> = { Ms: 'milliseconds', Bytes: 'bytes', Days: 'days' };

/**
 * zod's error map for settings: says in plain words what is wrong, never the value, which may be a secret. For unknown
 * keys it is one line a key, in their order. Schemas that know better have messages of their own.
 */
export function plainWords(settings: z.core.$ZodType): z.core.$ZodErrorMap {
  const unknownKey = createUnknownKey(settings);
  return (issue) => {
    switch (issue.code) {
      case 'invalid_type':
        return wrongType([issue.expected], issue);
      case 'invalid_union':
        return issue.discriminator === undefined
          ? wrongType(issue.errors.flatMap(expectedAtTop), issue)
          : notOneOf((issue.options ?? []) as unknown[], Reflect.get(Object(issue.input), issue.discriminator));
      case 'invalid_value':
        return notOneOf(issue.values, issue.input);
      case 'unrecognized_keys':
        // A hint takes some 20 µs, and a wrong file may have 20,000 unknown keys.
        return issue.keys
          .map((key, index) => (index < MAX_LISTED_ISSUES ? unknownKey(key, issue.inst, issue.path) : 'unknown key'))
          .join('\n');
      case 'too_small':
        return issue.origin === 'number' ? `must be at least ${issue.minimum}` : 'must not be empty';
      case 'too_big':
        return `must be at most ${issue.maximum}`;
      default:
        return undefined;
    }
  };
}

function wrongType(expected: readonly string[], issue: z.core.$ZodRawIssue): string {
  const { input, path = [] } = issue;
  if (input === undefined) return 'is required';
  if (input === null && path.length === 0) return 'there are no settings yet: docs/onboarding.md begins with upstreams';
  const wanted = expected.map((type) => TYPES[type] ?? type).join(' or ');
  return `expected ${wanted}, got ${typeOf(input)}${howToWrite(wanted, issue)}`;
}

/** The type that one option of a union asks for, where that is what the value fails at. */
function expectedAtTop([issue]: readonly z.core.$ZodIssue[]): string[] {
  return issue?.code === 'invalid_type' && issue.path.length === 0 ? [issue.expected] : [];
}

function typeOf(input: unknown): string {
  if (input === null) return 'nothing';
  if (Array.isArray(input)) return 'a list';
  if (typeof input === 'string') return input === '' ? 'empty text' : 'text';
  if (typeof input === 'number') return Number.isFinite(input) ? 'a number' : 'a number without end';
  return typeof input === 'boolean' ? 'true or false' : 'a block of keys';
}

function notOneOf(values: readonly unknown[], input: unknown): string {
  if (input === undefined) return `is required: one of ${values.join(', ')}`;
  return `must be one of ${values.join(', ')}${didYouMean(input, values.map(String))}`;
}

/** How to write what was most likely meant by a value of another type than the one that is `wanted`. */
function howToWrite(wanted: string, { input, inst, path = [] }: z.core.$ZodRawIssue): string {
  if (wanted === 'a block of keys') return blockHint(input, inst);
  if (wanted === 'text') return typeof input === 'number' || typeof input === 'boolean' ? '; put it in quotes' : '';
  if (typeof input !== 'string') return '';
  if (QUOTED[wanted]?.test(input) === true) return '; take its quotes off';
  return wanted === 'a whole number' && WITH_UNIT.test(input) ? unitHint(String(path.at(-1))) : '';
}

/** Keys end with their unit. */
function unitHint(key: string): string {
  const unit = Object.keys(UNITS).find((suffix) => key.endsWith(suffix));
  return unit === undefined ? '' : `; write it in ${UNITS[unit]}, without a unit`;
}

/** What was written in place of a block is most likely its most important key. */
function blockHint(input: unknown, block: unknown): string {
  if (block instanceof z.ZodDiscriminatedUnion && typeof input === 'string') return kindHint(input, block);
  if (!(block instanceof z.ZodObject) || typeof input === 'object') return '';
  if (typeof input === 'boolean' && 'enabled' in block.shape) return `; write { enabled: ${input} }`;
  const required = Object.entries(block.shape).filter(([, schema]) => !z.safeParse(schema, undefined).success);
  return required.length === 0 ? '' : `; it needs ${required.map(([key]) => key).join(', ')}`;
}

function kindHint(input: string, { options, def }: z.ZodDiscriminatedUnion): string {
  const kinds = options.flatMap((option) => {
    const kind = option instanceof z.ZodObject ? option.shape[def.discriminator] : undefined;
    return kind instanceof z.ZodLiteral ? [String(kind.value)] : [];
  });
  const kind = closest(input, kinds);
  return kind === undefined ? `; it needs ${def.discriminator}` : `; did you mean { ${def.discriminator}: ${kind} }?`;
}

type Schema = z.core.$ZodType;
type Places = Map<string, Set<string>>;

/** A key that is valid in more places than this says little about where it was meant to stand. */
const FEW = 2;

/** Returns what is wrong with a key that its block does not have, and what was most likely meant. */
function createUnknownKey(settings: Schema) {
  let places: Places | undefined;
  return (key: string, block: unknown, path: readonly PropertyKey[] = []): string => {
    const now = removedKey(path, key);
    if (now !== undefined) return `is no longer a setting: ${now}`;
    const siblings = block instanceof z.ZodObject ? Object.keys(block.shape) : [];
    const meant = closest(key, siblings);
    // A name that is not close to a field is mostly the platform's own: a place elsewhere in settings is no hint.
    if (path.at(-1) === 'fields' && meant === undefined) {
      return `unknown field; the documented ones are ${siblings.join(', ')}`;
    }
    // A typing error comes first: `upstream` at the top level is `upstreams`, although resources have a key of that name.
    if (meant !== undefined && isSlip(key, meant)) return `unknown key; did you mean ${meant}?`;
    places ??= collectPlaces(settings, '', new Map());
    const elsewhere = [...(places.get(key) ?? [])];
    if (elsewhere.length > 0 && elsewhere.length <= FEW) return `unknown key; it belongs ${elsewhere.join(' or ')}`;
    return `unknown key${didYouMean(key, siblings)}`;
  };
}

function collectPlaces(schema: Schema, place: string, places: Places): Places {
  if (schema instanceof z.ZodPrefault) return collectPlaces(schema.unwrap(), place, places);
  if (schema instanceof z.ZodRecord) return collectPlaces(schema.valueType, `${place}.<name>`, places);
  if (schema instanceof z.ZodUnion) for (const option of schema.options) collectPlaces(option, place, places);
  if (!(schema instanceof z.ZodObject)) return places;
  for (const [key, child] of Object.entries(schema.shape)) {
    places.set(key, (places.get(key) ?? new Set()).add(describe(schema, place)));
    collectPlaces(child, place === '' ? key : `${place}.${key}`, places);
  }
  return places;
}

function describe({ shape }: z.ZodObject, place: string): string {
  if (place === '') return 'at the top level';
  const { kind } = shape;
  const suffix = kind instanceof z.ZodLiteral ? ` of kind ${kind.value}` : '';
  return `under ${place.replace(/^resources\.[^.]+/, 'resources.<name>')}${suffix}`;
}
