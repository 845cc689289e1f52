import { z } from 'zod';
import { didYouMean } from './close-words.ts';
import { hintForKey } from './hints.ts';

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

/** What YAML 1.1 took for true and false. */
const EARLIER_BOOLEANS: Readonly<Record<string, string>> = { yes: 'true', on: 'true', no: 'false', off: 'false' };

/** What others call what a `kind` is here. */
const KINDS: Readonly<Record<string, string>> = {
  cursor: 'token',
  apikey: 'header',
  'api-key': 'header',
  bearer: 'passthrough',
  relay: 'passthrough',
  basic: 'service',
};

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
        return wrongType([issue.expected], issue);
      case 'invalid_union':
        return issue.discriminator === undefined
          ? wrongType(issue.errors.flatMap(expectedAtTop), issue)
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

function wrongType(expected: readonly string[], { input, path = [] }: z.core.$ZodRawIssue): string {
  if (input === undefined) return 'is required';
  if (input === null && path.length === 0) return 'there are no settings yet: docs/onboarding.md begins with upstreams';
  const wanted = expected.map((type) => TYPES[type] ?? type).join(' or ');
  return `expected ${wanted}, got ${typeOf(input)}${writtenHint(wanted, input, String(path.at(-1)))}`;
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

/** How to write what was most likely meant. */
function writtenHint(wanted: string, input: unknown, key: string): string {
  if (wanted === 'text') return typeof input === 'number' || typeof input === 'boolean' ? '; put it in quotes' : '';
  if (typeof input !== 'string') return '';
  if (QUOTED[wanted]?.test(input) === true) return '; take its quotes off';
  if (wanted === 'a whole number' && WITH_UNIT.test(input)) return unitHint(key);
  const boolean = wanted === 'true or false' ? EARLIER_BOOLEANS[input.toLowerCase()] : undefined;
  return boolean === undefined ? '' : `; write ${boolean}`;
}

/** Keys end with their unit. */
function unitHint(key: string): string {
  const unit = Object.keys(UNITS).find((suffix) => key.endsWith(suffix));
  return unit === undefined ? '' : `; write it in ${UNITS[unit]}, without a unit`;
}

function notOneOf(values: readonly unknown[], input: unknown): string {
  if (input === undefined) return `is required: one of ${values.join(', ')}`;
  const kind = typeof input === 'string' ? KINDS[input.toLowerCase()] : undefined;
  const hint = values.includes(kind) ? `; did you mean ${kind}?` : didYouMean(input, values.map(String));
  return `must be one of ${values.join(', ')}${hint}`;
}
