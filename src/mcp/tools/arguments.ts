import { z } from 'zod';
import { GatewayError } from '../../kernel/errors.ts';
import type { Resource } from '../../resources/resource.ts';
import type { Filter } from './select.ts';

const DEFAULT_LIMIT = 50;
const MAX_LIMIT = 500;
const MAX_TEXT = 256;
const MAX_CURSOR = 512;

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

/** Reads arguments of this shape. Throws `invalid_params`, with every mistake in words that a model can act on. */
export function readArguments(shape: ReturnType<typeof argumentsShape>, given: unknown): ToolArguments {
  const parsed = shape.safeParse(given ?? {});
  if (!parsed.success) {
    const mistakes = parsed.error.issues.map(({ path, message }) => `${[...path, ''].join(': ')}${message}.`);
    throw new GatewayError('invalid_params', { detail: mistakes.join(' ') });
  }
  const { query, limit, cursor, ...exact } = parsed.data;
  return { filter: { query, exact: withoutMissing(exact) }, limit, cursor };
}

function withoutMissing(exact: Record<string, unknown>): Record<string, string> {
  return Object.fromEntries(Object.entries(exact).filter((entry): entry is [string, string] => entry[1] !== undefined));
}
