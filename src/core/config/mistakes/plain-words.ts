import { z } from 'zod';
import { closest, didYouMean } from './close-words.ts';
import { MAX_LISTED_ISSUES } from './config-error.ts';
import { hintForKey, placesOfKeys } from './hints.ts';
import { howToWrite, kindMeant } from './how-to-write.ts';
import { removedKey } from './removed.ts';

/** What settings call the types that zod names. Every number in settings is whole. */
const TYPES: Readonly<Record<string, string>> = {
  string: 'text',
  number: 'a whole number',
  boolean: 'true or false',
  object: 'a block of keys',
  record: 'a block of keys',
  array: 'a list',
};

/**
 * zod's error map for settings: says in plain words what is wrong, never the value, which may be a secret. For unknown
 * keys it is one line a key, in their order. Schemas that know better have messages of their own.
 */
export function plainWords(settings: z.core.$ZodType): z.core.$ZodErrorMap {
  let places: ReturnType<typeof placesOfKeys> | undefined;
  const unknownKey = (key: string, block: unknown, path: readonly PropertyKey[] = []): string => {
    const now = removedKey(path, key);
    if (now !== undefined) return `is no longer a setting: ${now}`;
    const siblings = block instanceof z.ZodObject ? Object.keys(block.shape) : [];
    // A name that is not close to a field is mostly the platform's own: a place elsewhere in settings is no hint.
    if (path.at(-1) === 'fields' && closest(key, siblings) === undefined) {
      return `unknown field; the documented ones are ${siblings.join(', ')}`;
    }
    places ??= placesOfKeys(settings);
    return `unknown key${hintForKey(key, siblings, places)}`;
  };
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
  const kind = kindMeant(input, values);
  return `must be one of ${values.join(', ')}${kind === undefined ? didYouMean(input, values.map(String)) : `; did you mean ${kind}?`}`;
}
