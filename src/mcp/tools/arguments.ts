import { z } from 'zod';
import { GatewayError } from '../../kernel/errors.ts';
import type { Resource } from '../../resources/resource.ts';

export const DEFAULT_LIMIT = 50;
const MAX_LIMIT = 500;
const MAX_TEXT = 256;
const MAX_CURSOR = 512;

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
    const issues = parsed.error.issues.map(({ path, message }) => `${[...path, ''].join(': ')}${message}.`);
    throw new GatewayError('invalid_params', { detail: issues.join(' ') });
  }
  const { query, limit, cursor, ...rest } = parsed.data;
  const exact: Record<string, string> = {};
  for (const [field, text] of Object.entries(rest)) if (typeof text === 'string') exact[field] = text;
  return { filter: { query: query === '' ? undefined : query, exact }, limit, cursor };
}
