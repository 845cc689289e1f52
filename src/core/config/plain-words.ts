import { z } from 'zod';
import { closest, didYouMean } from './close-words.ts';
import { MAX_LISTED_ISSUES } from './config-error.ts';
import { removedKey } from './removed-keys.ts';

const TYPES: Readonly<Record<string, string>> = {
  string: 'text',
  number: 'a whole number',
  boolean: 'true or false',
  object: 'a block of keys',
  record: 'a block of keys',
  array: 'a list',
};

/** zod's error map for settings. Never contains the value, which may be secret. Unknown keys have one line each. */
export const plainWords: z.core.$ZodErrorMap = (issue) => {
  switch (issue.code) {
    case 'invalid_type':
      return wrongType([issue.expected], issue.input);
    case 'invalid_union':
      return issue.discriminator === undefined
        ? wrongType(issue.errors.flatMap(expectedAtTop), issue.input)
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

function wrongType(expected: readonly string[], input: unknown): string {
  if (input === undefined) return 'is required';
  const wanted = expected.map((type) => TYPES[type] ?? type).join(' or ');
  return `expected ${wanted}, got ${typeOf(input)}`;
}

/** The type that one option of a union asks for, if the value fails at that. */
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

function unknownKey(key: string, block: unknown, path: readonly PropertyKey[] = []): string {
  const now = removedKey(path, key);
  if (now !== undefined) return `is no longer a setting: ${now}`;
  const siblings = block instanceof z.ZodObject ? Object.keys(block.shape) : [];
  if (path.at(-1) === 'fields' && closest(key, siblings) === undefined) {
    return `unknown field; the documented ones are ${siblings.join(', ')}`;
  }
  return `unknown key${didYouMean(key, siblings)}`;
}
