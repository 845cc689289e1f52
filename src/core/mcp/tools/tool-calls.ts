import { hash } from 'node:crypto';
import type { Tool } from '@modelcontextprotocol/server';
import { explained, GatewayError } from '../../kernel/errors.ts';
import type { Catalogue, Offered } from '../../reads/catalogue/catalogue.ts';
import type { Representations } from '../../reads/representations/representations.ts';
import type { Load } from '../../reads/snapshots/load.ts';
import { isObject } from '../message.ts';
import type { ReadResource, RequestContext, Result } from '../request-context.ts';
import type { ChallengeFor, RecordError } from '../rpc-errors.ts';
import { argumentsShape, createReadArguments, DEFAULT_LIMIT, type ToolArguments } from './arguments.ts';
import { writeFields, writePage } from './list-page.ts';
import { createSearch, hintFor } from './search.ts';
import { describeTool } from './tool-definition.ts';

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
  /** `tools/call`: one page of a list. Rejects with `invalid_params` for an unknown tool. */
  call(params: { readonly name?: unknown; readonly arguments?: unknown }, context: RequestContext): Promise<Result>;
}

export function createTools(options: ToolsOptions): Tools {
  const { catalogue, readResource, representations, maxResultBytes, recordError, challengeFor } = options;
  const search = createSearch(options.maxParsedBytes);
  const tools = catalogue.offered.map((offered) => {
    const shape = argumentsShape(offered);
    const tool = describeTool(offered, shape, maxResultBytes);
    return { ...offered, read: createReadArguments(offered, shape), tool };
  });
  // Until 0.2.0, tools are also called by their first names, which were made from the resource's.
  const byName = new Map<unknown, (typeof tools)[number]>([
    ...tools.map((one) => [`list_${one.resource.name}`, one] as const),
    ...tools.map((one) => [one.tool.name, one] as const),
  ]);

  /** Returns the result with one page. */
  async function pageOf(
    load: Load,
    known: Offered['known'],
    { filter, fields, limit = DEFAULT_LIMIT, cursor }: ToolArguments,
    { signal }: RequestContext,
  ): Promise<Buffer> {
    const { snapshot } = load;
    const place = { etag: snapshot.etag, filter };
    const offset = readCursor(place, cursor);
    const cursorOf = (next: number) => writeCursor(place, next);
    const page = { offset, limit, cursorOf, maxBytes: maxResultBytes };
    const isNarrowed = filter.query !== undefined || Object.keys(filter.values).length > 0;
    if (!isNarrowed && fields === undefined) {
      const whole = () => pageResult(writePage(snapshot, page));
      // Only adjacent pages of one size are kept, so that made-up limits and offsets do not fill the cache.
      const isKept = limit === DEFAULT_LIMIT && offset % DEFAULT_LIMIT === 0 && offset < Math.max(1, snapshot.count);
      return isKept ? representations.derived(load, `page ${offset}`, whole) : whole();
    }
    const found = isNarrowed ? await search(load, filter, signal) : undefined;
    const hint = found?.indices.length === 0 ? hintFor(filter, found.seen, known) : undefined;
    const part = { ...page, found: found?.indices, hint };
    return pageResult(
      fields === undefined ? writePage(snapshot, part) : await writeFields(snapshot, part, fields, signal),
    );
  }

  return {
    list: tools.map(({ tool }) => tool),
    async call({ name, arguments: given }, context) {
      if (typeof name !== 'string' || (given !== undefined && !isObject(given)))
        throw new GatewayError('invalid_params', { reason: 'tools/call takes name and arguments' });
      const tool = byName.get(name);
      if (tool === undefined) {
        throw explained(
          'invalid_params',
          `There is no such tool. There are: ${tools.map(({ tool }) => tool.name).join(', ')}.`,
        );
      }
      context.record.tool = tool.tool.name;
      try {
        const args = tool.read(given);
        const load = await readResource(tool.resource.name, context);
        return { shared: [await pageOf(load, tool.known, args, context)] };
      } catch (thrown) {
        // A model cannot change its client's token.
        if (context.signal.aborted || challengeFor(thrown, context) !== undefined) throw thrown;
        return errorResult(recordError(thrown, context), context.record.requestId);
      }
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

/** Position and list of a next page. */
export interface CursorPosition {
  /** Entity tag of the list. */
  readonly etag: string;
  /** Filter of the list. */
  readonly filter: object;
}

/** Returns a cursor for the items from `offset` on, valid for this list and filter only. */
export function writeCursor({ etag, filter }: CursorPosition, offset: number): string {
  return Buffer.from(JSON.stringify([offset, etag, digest(filter)])).toString('base64url');
}

/**
 * Returns the offset of a cursor; 0 without one. Throws `list_changed` if the list has changed, and `invalid_params` if
 * it is invalid or belongs to another filter.
 */
export function readCursor({ etag, filter }: CursorPosition, cursor: string | undefined): number {
  if (cursor === undefined) return 0;
  const [offset, list, narrowed] = parse(cursor);
  if (!Number.isSafeInteger(offset) || Number(offset) < 0)
    throw explained('invalid_params', 'cursor: was not issued here. Omit it to start.');
  if (narrowed !== digest(filter))
    throw explained('invalid_params', 'cursor: belongs to other arguments. Repeat those, or start again.');
  if (list !== etag) throw new GatewayError('list_changed');
  return Number(offset);
}

function parse(cursor: string): readonly unknown[] {
  try {
    const parts: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString());
    return Array.isArray(parts) ? parts : [];
  } catch {
    return [];
  }
}

/** Filters are case-insensitive. */
function digest(filter: object): string {
  return hash('sha256', JSON.stringify(filter).toLowerCase(), 'base64url').slice(0, 11);
}
