import type { z } from 'zod';
import { didYouMean, type Finding } from './config-error.ts';

const BLOCK = 'a block of keys, each as "key: value"';

/** The types of zod, as they are written in YAML. */
const TYPES: Readonly<Record<string, string>> = {
  ...{ object: BLOCK, record: BLOCK, array: 'a list, such as [a, b]', string: 'text: put it in quotes' },
  ...{ number: 'a number, without quotes and unit', boolean: 'true or false, without quotes' },
};

/** Returns what is wrong with settings, or their value. Messages contain no value, because it may be secret. */
export function checkWith<Schema extends z.ZodType>(
  schema: Schema,
  input: unknown,
): { readonly settings: z.output<Schema> } | { readonly findings: readonly Finding[] } {
  // Settings are read once: to compile the schema takes longer.
  const { success, data, error } = schema.safeParse(input, { error: messageOf, jitless: true });
  return success ? { settings: data } : { findings: error.issues.flatMap((issue) => findingsOf(issue)) };
}

/** Returns the message of an issue that zod words for programmers; `undefined` leaves it to zod. */
function messageOf(issue: z.core.$ZodRawIssue): string | undefined {
  switch (issue.code) {
    case 'invalid_type':
      return issue.input === undefined ? 'is required' : `must be ${TYPES[issue.expected] ?? issue.expected}`;
    case 'invalid_value':
      return `must be one of ${issue.values.join(', ')}`;
    case 'invalid_union':
      return issue.discriminator === undefined ? undefined : `must be one of ${(issue.options as string[]).join(', ')}`;
    case 'unrecognized_keys': {
      const known = Object.keys(Object(issue.inst).shape);
      const cureOf = (key: string) => didYouMean(key, known) || `; known are ${known.join(', ')}`;
      return issue.keys.map((key) => `Unrecognized key${cureOf(key)}`).join('\n');
    }
    default:
      return undefined;
  }
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
      // A union of a text and a block: only the issues of the form that was written.
      const written = issue.errors.find(
        (option) => !option.some((inner) => inner.code === 'invalid_type' && inner.path.length === 0),
      );
      return written?.flatMap((inner) => findingsOf(inner, path)) ?? [{ path, message: issue.message }];
    }
    default:
      return [{ path, message: issue.message }];
  }
}
