import { z } from 'zod';
import { didYouMean, hintForKey } from './hints.ts';

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

/**
 * zod's error map for settings: says in plain words what is wrong, never the value, which may be a secret. For unknown
 * keys it is one line a key, in their order. Schemas that know better have messages of their own.
 */
export function plainWords(settings: z.core.$ZodType): z.core.$ZodErrorMap {
  const unknownKey = (key: string, block: unknown): string => {
    const siblings = block instanceof z.ZodObject ? Object.keys(block.shape) : [];
    return `unknown key${hintForKey(key, siblings, settings)}`;
  };
  return (issue) => {
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
        return issue.keys.map((key) => unknownKey(key, issue.inst)).join('\n');
      case 'too_small':
        return issue.origin === 'number' ? `must be at least ${issue.minimum}` : 'must not be empty';
      case 'too_big':
        return `must be at most ${issue.maximum}`;
      default:
        return undefined;
    }
  };
}

function wrongType(expected: readonly string[], input: unknown): string {
  if (input === undefined) return 'is required';
  const wanted = expected.map((type) => TYPES[type] ?? type).join(' or ');
  return `expected ${wanted}, got ${typeOf(input)}${quotesHint(wanted, input)}`;
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

function quotesHint(wanted: string, input: unknown): string {
  if (wanted === 'text') return typeof input === 'number' || typeof input === 'boolean' ? '; put it in quotes' : '';
  return typeof input === 'string' && QUOTED[wanted]?.test(input) === true ? '; take its quotes off' : '';
}

function notOneOf(values: readonly unknown[], input: unknown): string {
  if (input === undefined) return `is required: one of ${values.join(', ')}`;
  return `must be one of ${values.join(', ')}${didYouMean(input, values.map(String))}`;
}
