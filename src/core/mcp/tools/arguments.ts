import type { Tool } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { explained, GatewayError } from '../../kernel/errors.ts';
import type { Offered } from '../../reads/catalogue/catalogue.ts';
import { listValues, valuesOf } from './known-values.ts';

export const DEFAULT_LIMIT = 50;
const MAX_LIMIT = 500;
const MAX_TEXT = 256;
const MAX_CURSOR = 512;

/** Maximum number and length of argument names in an error, because a client can send many. */
const MAX_NAMES = 5;
const MAX_NAME = 40;

/** Filters of a list, case-insensitive. */
export interface Filter {
  /** Text contained in a documented field; never empty. */
  readonly query?: string | undefined;
  /** Fields with their whole text. */
  readonly values: Readonly<Record<string, string>>;
}

/** Arguments of a tool. */
export interface ToolArguments {
  readonly filter: Filter;
  /** Fields of the returned items, in the documented order; `undefined` for all. */
  readonly fields: readonly string[] | undefined;
  readonly limit: number;
  readonly cursor: string | undefined;
}

const QUERY = z
  .string()
  .max(MAX_TEXT)
  .optional()
  .describe('Text to search for in all fields, ignoring case. Omit it for all.');

const PAGING = {
  limit: z.number().int().min(1).max(MAX_LIMIT).default(DEFAULT_LIMIT).describe('The most items to return.'),
  cursor: z
    .string()
    .max(MAX_CURSOR)
    .optional()
    .describe('nextCursor of the previous page, with the same query and filters. Omit it to start.'),
};

type ToolResource = Pick<Offered, 'resource' | 'known'>;

/** Returns the zod schema of a resource's tool. Equal for all callers: it contains settings only. */
export function argumentsShape({ resource, known }: ToolResource) {
  const filters = Object.fromEntries(resource.filters.map((field) => [field, filterShape(field, known[field] ?? [])]));
  const names = fieldsOf(resource);
  const fields = z
    .array(z.enum(names))
    .min(1)
    .max(names.length)
    .optional()
    .describe('The fields to return. Omit it for all.');
  return z.strictObject({ query: QUERY, ...filters, fields, ...PAGING });
}

function filterShape(field: string, known: readonly string[]) {
  const values = listValues(valuesOf(known));
  const knownValues = values === '' ? '' : ` Known values: ${values}.`;
  return z
    .string()
    .max(MAX_TEXT)
    .optional()
    .describe(`Only items whose ${field} equals this, ignoring case.${knownValues}`);
}

/** Parses arguments. Throws `invalid_params` with every issue, in words that a model can act on. */
export type ReadArguments = (given?: object) => ToolArguments;

/** Parses arguments of this shape. The result for no arguments, which is common, is cached. */
export function createReadArguments(
  { resource }: Pick<ToolResource, 'resource'>,
  shape: ReturnType<typeof argumentsShape>,
): ReadArguments {
  const names = fieldsOf(resource);
  const known = Object.keys(shape.shape);

  function read(given: object): ToolArguments {
    const { fields: requested } = given as { readonly fields?: unknown };
    // zod would check and report each of them.
    if (Array.isArray(requested) && requested.length > names.length) {
      throw explained('invalid_params', `fields: There are ${names.length}: ${names.join(', ')}.`);
    }
    const parsed = shape.safeParse(given);
    if (!parsed.success) {
      throw new GatewayError('invalid_params', {
        detail: parsed.error.issues.map((issue) => describeIssue(issue, known)).join(' '),
        // Without messages and unknown names: those repeat what the caller has sent.
        reason: parsed.error.issues.map(({ path, code }) => [...path, code].join(': ')).join(', '),
      });
    }
    const { query, limit, cursor, fields, ...rest } = parsed.data;
    const values: Record<string, string> = {};
    for (const [field, text] of Object.entries(rest)) if (typeof text === 'string') values[field] = text;
    return {
      filter: { query: query === '' ? undefined : query, values },
      fields: fields && names.filter((name) => fields.includes(name)),
      limit,
      // As with query: clients send an empty text for an omitted value.
      cursor: cursor === '' ? undefined : cursor,
    };
  }

  const none = read({});
  return (given) => {
    for (const _ in given) return read(given);
    return none;
  };
}

function fieldsOf({ shape }: ToolResource['resource']): string[] {
  return Object.keys(shape.shape);
}

/** Describes an issue. Known arguments have a few at most; unknown ones are summarized in one. */
function describeIssue(issue: z.core.$ZodIssue, known: readonly string[]): string {
  if (issue.code !== 'unrecognized_keys') return `${[...issue.path, ''].join(': ')}${issue.message}.`;
  const { keys } = issue;
  const names = keys
    .slice(0, MAX_NAMES)
    .map((key) => JSON.stringify(key.length > MAX_NAME ? `${key.slice(0, MAX_NAME)}…` : key));
  const more = keys.length > names.length ? ` and ${keys.length - names.length} more` : '';
  const none = keys.length === 1 ? 'There is no argument' : 'There are no arguments';
  return `${none} ${names.join(', ')}${more}. There are: ${known.join(', ')}.`;
}

/** Returns a resource's tool for `tools/list`. */
export function describeTool({ resource }: Pick<Offered, 'resource'>, taken: z.ZodObject): Tool {
  const { name, title, description, shape, filters } = resource;
  const by = ['query', ...filters].join(', ');
  const returned = z.strictObject({
    items: z
      .array(shape.partial())
      .describe('Items of this page, in the order of the platform, with all fields, or those requested.'),
    total: z.number().int().min(0).describe('Items that fit, on all pages.'),
    hint: z.string().optional().describe('What may help, where no item fits.'),
    nextCursor: z.string().optional().describe('Cursor of the next page. Absent on the last one.'),
  });
  return {
    name: `list_${name}`,
    title: `List ${title.toLowerCase()}`,
    description: `${description} Page by page, with total and nextCursor; narrow the list by ${by}, and the items by fields.`,
    inputSchema: jsonSchema(taken),
    outputSchema: jsonSchema(returned),
    annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  };
}

function jsonSchema(shape: z.ZodObject): Tool['inputSchema'] {
  return { ...z.toJSONSchema(shape, { io: 'input' }), type: 'object' } as Tool['inputSchema'];
}
