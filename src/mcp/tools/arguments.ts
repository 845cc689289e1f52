import { z } from 'zod';
import { GatewayError } from '../../kernel/errors.ts';
import type { Resource } from '../../resources/resource.ts';

export const DEFAULT_LIMIT = 50;
const MAX_LIMIT = 500;
const MAX_TEXT = 256;
const MAX_CURSOR = 512;

/** Names of arguments that an error repeats, and characters of each: a client may send as many as fit a message. */
const MAX_NAMES = 5;
const MAX_NAME = 40;

/** What narrows a list. */
export interface Filter {
  /** Text that the name or the description has, in any case; never empty. */
  readonly query?: string | undefined;
  /** Fields with the very text that they must have. */
  readonly exact: Readonly<Record<string, string>>;
}

/** What a tool is asked for. */
export interface ToolArguments {
  readonly filter: Filter;
  readonly limit: number;
  readonly cursor: string | undefined;
}

const COMMON = {
  query: z
    .string()
    .max(MAX_TEXT)
    .optional()
    .describe('Text to look for in name and description, in any case. Leave it out for all.'),
  limit: z.number().int().min(1).max(MAX_LIMIT).default(DEFAULT_LIMIT).describe('The most items to return.'),
  cursor: z
    .string()
    .max(MAX_CURSOR)
    .optional()
    .describe('nextCursor of the page before, with the same other arguments. Leave it out to begin.'),
};

/** The zod schema of a resource's tool arguments. */
export function argumentsShape({ filters }: Resource) {
  const exact = Object.fromEntries(
    filters.map((field) => [
      field,
      z.string().max(MAX_TEXT).optional().describe(`Only items whose ${field} is exactly this, in this case.`),
    ]),
  );
  const { query, ...paging } = COMMON;
  return z.strictObject({ query, ...exact, ...paging });
}

/** Reads arguments of this shape. Throws `invalid_params`, with every issue in words that a model can act on. */
export function readArguments(shape: ReturnType<typeof argumentsShape>, given: unknown): ToolArguments {
  const parsed = shape.safeParse(given ?? {});
  if (!parsed.success) {
    throw new GatewayError('invalid_params', { detail: parsed.error.issues.map(wordsOf).join(' ') });
  }
  const { query, limit, cursor, ...rest } = parsed.data;
  const exact: Record<string, string> = {};
  for (const [field, text] of Object.entries(rest)) if (typeof text === 'string') exact[field] = text;
  return { filter: { query: query === '' ? undefined : query, exact }, limit, cursor };
}

/** An issue in words. Each argument that there is has one at most; all others are named in one, a few of them. */
function wordsOf(issue: z.core.$ZodIssue): string {
  if (issue.code !== 'unrecognized_keys') return `${[...issue.path, ''].join(': ')}${issue.message}.`;
  const { keys } = issue;
  const names = keys
    .slice(0, MAX_NAMES)
    .map((key) => JSON.stringify(key.length > MAX_NAME ? `${key.slice(0, MAX_NAME)}…` : key));
  const more = keys.length > names.length ? ` and ${keys.length - names.length} more` : '';
  return `${keys.length === 1 ? 'Unrecognized key' : 'Unrecognized keys'}: ${names.join(', ')}${more}.`;
}
