import { z } from 'zod';
import { errorWithDetail, GatewayError } from '../../kernel/errors.ts';
import { showHidden } from '../../kernel/hidden-text.ts';
import type { Offered } from '../../reads/catalogue/catalogue.ts';
import { listValues } from './known-values.ts';
import { MAX_PAGE_ITEMS } from './list-page.ts';
import type { Order } from './order.ts';

const MAX_LIMIT = 500;
const MAX_TEXT = 256;

/** Names of ignored arguments that are repeated, and their length. */
const MAX_NAMES = 5;
const MAX_NAME = 40;

/** Arguments that hosts add to every call: Gemini CLI, and n8n the others. */
const ADDED_BY_HOSTS: ReadonlySet<string> = new Set(['wait_for_previous', 'tool', 'toolCallId']);

/** Arguments that name fields, separated by commas: a list costs a model twice the tokens. */
export const LISTS: ReadonlySet<string> = new Set(['fields', 'count_by']);

/** Filters of a list, case-insensitive. */
export interface Filter {
  /** Text contained in a documented field; never empty. */
  readonly query?: string | undefined;
  /** Fields with their whole text. */
  readonly values: Readonly<Record<string, string>>;
  /** Items whose time is later (milliseconds since the epoch). */
  readonly after?: { readonly field: string; readonly ms: number } | undefined;
}

export interface ToolArguments {
  readonly filter: Filter;
  /** Fields of the returned items, in the documented order; `undefined` for all. */
  readonly fields: readonly string[] | undefined;
  /** Fields whose values are counted, in the documented order. */
  readonly countBy: readonly string[];
  /** `undefined`: the order of the list. */
  readonly order: Order | undefined;
  /** Whether items are rows under columns. */
  readonly isTable: boolean;
  /** Entity tag of the list since which changes are asked for. */
  readonly changedSince: string | undefined;
  /** Maximum number of items; 0 for totals only, `undefined` for a short page. */
  readonly limit: number | undefined;
  readonly cursor: string | undefined;
  /** Whether there are none, so that the first page of the whole list is asked for. */
  readonly isEmpty: boolean;
  /** Names of a few unknown arguments, short and without hidden characters, for the result. */
  readonly ignored: readonly string[];
  /** Unknown arguments that no host adds by itself: the model meant something by them. */
  readonly unknownArguments: readonly string[];
}

const text = (description = '') => {
  const taken = z.string().max(MAX_TEXT).optional();
  return description === '' ? taken : taken.describe(description);
};

type ToolResource = Pick<Offered, 'resource' | 'known'>;

/** Has a filter for each field: models also send those that `tools/list` does not name. Equal for all callers: settings only. */
export function argumentsShape({ resource, known }: ToolResource) {
  const names = fieldsOf(resource);
  const filters = names.map((field) => {
    const values = listValues(known[field] ?? []);
    return [field, text(values && `Known: ${values}.`)] as const;
  });
  const some = () => z.array(z.enum(names)).optional();
  return z.object({
    query: text(),
    ...Object.fromEntries(filters),
    fields: some().describe(names.join(',')),
    count_by: some().describe('Counts values'),
    sort: z.enum(names.flatMap((name) => [name, `-${name}`])).optional(),
    format: z.enum(['items', 'table']).optional(),
    ...(timeFieldOf(resource) !== undefined && { created_after: timeAfter() }),
    ...(resource.stored && { changed_since: text() }),
    limit: z.int().min(0).max(MAX_LIMIT).optional().describe(`0 to ${MAX_LIMIT}, default ${MAX_PAGE_ITEMS}`),
    cursor: z.string().optional(),
  });
}

/** Throws `invalid_params` with every issue, in words that a model can act on. The result for no arguments is kept. */
export function createReadArguments(
  { resource }: Pick<ToolResource, 'resource'>,
  shape: ReturnType<typeof argumentsShape>,
) {
  const names = fieldsOf(resource);
  const known = Object.keys(shape.shape);
  const timeField = timeFieldOf(resource);

  function read(given: object): ToolArguments {
    const taken: Record<string, unknown> = {};
    for (const name of known) if (Object.hasOwn(given, name)) taken[name] = argumentOf(given, name);
    for (const name of LISTS) {
      const requested = taken[name];
      // zod would check and report each of them.
      if (Array.isArray(requested) && requested.length > names.length)
        throw errorWithDetail('invalid_params', `${name}: There are ${names.length}: ${names.join(', ')}.`);
    }
    const parsed = shape.safeParse(taken);
    if (!parsed.success) {
      throw new GatewayError('invalid_params', {
        detail: parsed.error.issues.map(({ path, message }) => `${[...path, ''].join(': ')}${message}.`).join(' '),
        // Without messages: those repeat what the caller has sent.
        reason: parsed.error.issues.map(({ path, code }) => [...path, code].join(': ')).join(', '),
      });
    }
    const { query, limit, cursor, fields, count_by: countBy, sort, format, ...rest } = parsed.data;
    const { created_after: after, changed_since: changedSince, ...ofFields } = rest as Record<string, unknown>;
    const values: Record<string, string> = {};
    for (const [field, text] of Object.entries(ofFields)) if (typeof text === 'string') values[field] = text;
    const ignored = ignoredOf(given, known);
    return {
      filter: {
        query,
        values,
        ...(timeField && typeof after === 'string' && { after: { field: timeField, ms: Date.parse(after) } }),
      },
      fields: fields && names.filter((name) => fields.includes(name)),
      order: sort === undefined ? undefined : orderOf(sort, resource),
      isTable: format === 'table',
      changedSince: typeof changedSince === 'string' ? changedSince : undefined,
      countBy: names.filter((name) => countBy?.includes(name)),
      limit: countBy === undefined ? limit : (limit ?? 0),
      cursor,
      isEmpty: ignored.length === 0 && Object.values(taken).every((value) => value === undefined),
      ignored,
      unknownArguments: ignored.filter((name) => !ADDED_BY_HOSTS.has(name)),
    };
  }

  const none = read({});
  return (given?: object): ToolArguments => {
    for (const _ in given) return read(given);
    return none;
  };
}

/** Many clients send something empty for an argument that is left out. */
function argumentOf(given: object, name: string): unknown {
  const value = (given as Readonly<Record<string, unknown>>)[name];
  if (value === null || value === '' || (Array.isArray(value) && value.length === 0)) return undefined;
  // MetaMCP, and some models, fill in what is left out: texts with '' and numbers with 0, which here is for the total only.
  if (name === 'limit' && value === 0 && Object.values(given).includes('')) return undefined;
  // As `tools/list` has them, and as a list for clients of before.
  if (LISTS.has(name) && typeof value === 'string') return value.split(',').map((each) => each.trim());
  // Models that know other interfaces write `name desc`.
  if (name === 'sort' && typeof value === 'string')
    return value.replace(DIRECTION, (_, field, way) => (way ? `-${field}` : field));
  // Some models write numbers as text.
  return name === 'limit' && typeof value === 'string' && /^\d{1,9}$/.test(value) ? Number(value) : value;
}

function ignoredOf(given: object, known: readonly string[]): string[] {
  const ignored: string[] = [];
  for (const name in given) {
    if (known.includes(name)) continue;
    if (ignored.length === MAX_NAMES) return [...ignored, '…'];
    ignored.push(showHidden(name.length > MAX_NAME ? `${name.slice(0, MAX_NAME)}…` : name).text);
  }
  return ignored;
}

const DIRECTION = /^(\w+)[ :,]+(?:asc|(desc))(?:ending)?$/i;

/** ISO 8601: without an offset, a time would be that of the machine. */
const TIME = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d))?$/;

function timeAfter() {
  const isTime = (given: string) => TIME.test(given) && isDay(given.slice(0, 10)) && !Number.isNaN(Date.parse(given));
  return text().refine(
    (given) => given === undefined || isTime(given),
    'Must be a date such as 2024-05-31, or a time such as 2024-05-31T12:00:00Z',
  );
}

/** `Date.parse` takes 31 February for 2 March. */
function isDay(day: string): boolean {
  const ms = Date.parse(day);
  return !Number.isNaN(ms) && new Date(ms).toISOString().startsWith(day);
}

function timeFieldOf({ formats }: ToolResource['resource']): string | undefined {
  return Object.entries(formats).find(([, format]) => format === 'timestamp')?.[0];
}

function orderOf(sort: string, { formats }: ToolResource['resource']): Order {
  const isDescending = sort.startsWith('-');
  const field = isDescending ? sort.slice(1) : sort;
  return { field, isDescending, isVersion: formats[field] === 'version' };
}

function fieldsOf({ shape }: ToolResource['resource']): string[] {
  return Object.keys(shape.shape);
}
