import type { Tool } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { GatewayError } from '../../kernel/errors.ts';
import type { Catalogue, Offered } from '../../reads/catalogue/catalogue.ts';
import type { Representations } from '../../reads/representations/representations.ts';
import type { Load } from '../../reads/snapshots/load.ts';
import { andThen, attempt, type ReadResource, type RequestContext } from '../request-context.ts';
import type { Result } from '../results.ts';
import type { ChallengeFor, RecordError } from '../rpc-errors.ts';
import { argumentsShape, createReadArguments, DEFAULT_LIMIT, type ToolArguments } from './arguments.ts';
import { readCursor, writeCursor } from './cursor.ts';
import { hintFor } from './hint.ts';
import { writeFields, writePage } from './list-page.ts';
import { createSearch } from './search.ts';

export interface ToolsOptions {
  readonly catalogue: Pick<Catalogue, 'offered'>;
  readonly readResource: ReadResource;
  readonly representations: Representations;
  /** Maximum text size of a result. */
  readonly maxResultBytes: number;
  /** Bytes of the lists that are kept parsed. */
  readonly maxParsedBytes: number;
  readonly recordError: RecordError;
  readonly challengeFor: ChallengeFor;
}

/** The resources as tools. */
export interface Tools {
  /** Result of `tools/list`. */
  readonly list: readonly Tool[];
  /** `tools/call`: one page of a list. Throws `invalid_params` for an unknown tool. */
  call(
    params: { readonly name?: unknown; readonly arguments?: unknown },
    context: RequestContext,
  ): Result | Promise<Result>;
}

export function createTools(options: ToolsOptions): Tools {
  const { catalogue, readResource, representations, maxResultBytes, recordError, challengeFor } = options;
  const search = createSearch(options.maxParsedBytes);
  const tools = catalogue.offered.map((offered) => {
    const shape = argumentsShape(offered);
    return { ...offered, read: createReadArguments(offered, shape), tool: describeTool(offered, shape) };
  });
  const byName = new Map<unknown, (typeof tools)[number]>(tools.map((one) => [one.tool.name, one]));

  function pageOf(
    load: Load,
    known: Offered['known'],
    { filter, fields, limit, cursor }: ToolArguments,
    context: RequestContext,
  ): Result | Promise<Result> {
    const { snapshot } = load;
    const place = { etag: snapshot.etag, filter };
    const offset = readCursor(place, cursor);
    const cursorOf = (next: number) => writeCursor(place, next);
    const page = { offset, limit, cursorOf, maxBytes: maxResultBytes };
    const isNarrowed = filter.query !== undefined || Object.keys(filter.values).length > 0;
    if (isNarrowed || fields !== undefined) return narrowed();
    const whole = () => pageResult(writePage(snapshot, page));
    // Only adjacent pages of one size are kept, so that made-up limits and offsets do not fill the cache.
    const isKept = limit === DEFAULT_LIMIT && offset % DEFAULT_LIMIT === 0 && offset < Math.max(1, snapshot.count);
    return { shared: [isKept ? representations.derived(load, `page ${offset}`, whole) : whole()] };

    async function narrowed(): Promise<Result> {
      const { signal } = context;
      const found = isNarrowed ? await search(load, filter, signal) : undefined;
      const hint = found?.indices.length === 0 ? hintFor(filter, found.seen, known) : undefined;
      const part = { ...page, found: found?.indices, hint };
      const text = fields === undefined ? writePage(snapshot, part) : await writeFields(snapshot, part, fields, signal);
      return { shared: [pageResult(text)] };
    }
  }

  return {
    list: tools.map(({ tool }) => tool),
    call({ name, arguments: given }, context) {
      if (typeof name !== 'string' || (given !== undefined && !isObject(given)))
        throw new GatewayError('invalid_params');
      const tool = byName.get(name);
      if (tool === undefined) {
        const detail = `There is no such tool. There are: ${[...byName.keys()].join(', ')}.`;
        throw new GatewayError('invalid_params', { detail });
      }
      context.record.tool = name;
      return attempt<Result>(
        () => {
          const args = tool.read(given);
          return andThen(readResource(tool.resource.name, context), (load) => pageOf(load, tool.known, args, context));
        },
        (thrown) => {
          // A model cannot change its client's token.
          if (context.signal.aborted || challengeFor(thrown, context) !== undefined) throw thrown;
          return errorResult(recordError(thrown, context), context.record.requestId);
        },
      );
    },
  };
}

/** Writes a page as a tool's result, as data and as text, up to its last member. */
function pageResult(page: string): Buffer {
  const content = JSON.stringify([{ type: 'text', text: page }]);
  return Buffer.from(`{"result":{"content":${content},"structuredContent":${page}`);
}

/** Writes an error as a tool's result: for the model the error and its remedy, for programs `_meta`. */
function errorResult({ code, detail, upstream, retryAfterSeconds }: GatewayError, requestId: string): Result {
  const wait = retryAfterSeconds === undefined ? '' : ` Wait ${retryAfterSeconds} s before the next attempt.`;
  const whence = upstream === undefined ? '' : `upstream ${upstream}, `;
  return {
    members: {
      isError: true,
      content: [{ type: 'text', text: `${code}: ${detail}${wait} (${whence}request ${requestId})` }],
      _meta: { 'portico/error': { code, requestId, upstream, retryAfterSeconds } },
    },
  };
}

/** Returns a resource's tool for `tools/list`. */
function describeTool({ resource }: Pick<Offered, 'resource'>, taken: z.ZodObject): Tool {
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

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
