import type { Tool } from '@modelcontextprotocol/server';
import { explained, GatewayError } from '../../kernel/errors.ts';
import type { Catalogue, Offered } from '../../reads/catalogue/catalogue.ts';
import type { Representations } from '../../reads/representations/representations.ts';
import type { Load } from '../../reads/snapshots/load.ts';
import type { Snapshot } from '../../reads/snapshots/snapshot.ts';
import { isObject } from '../message.ts';
import { remarksOn, type Staleness, stalenessOf, type WriteProvenance } from '../provenance.ts';
import type { ReadResource, RequestContext, Result } from '../request-context.ts';
import type { ChallengeFor, RecordError } from '../rpc-errors.ts';
import { argumentsShape, createReadArguments, type ToolArguments } from './arguments.ts';
import { createCounter } from './count-values.ts';
import { readCursor, writeCursor } from './cursor.ts';
import { MAX_PAGE_BYTES, startsOf, type WrittenPage, writeFields, writePage } from './list-page.ts';
import { createSearch, hintFor } from './search.ts';
import { createShow, type ShowOptions } from './shown-load.ts';
import { describeTool } from './tool-definition.ts';

/** Maximum number of prepared pages per list. */
const MAX_PREPARED = 64;

/** Maximum size of counts, which come before the items. */
const MAX_COUNTS_BYTES = 6000;

export interface ToolsOptions extends ShowOptions {
  readonly catalogue: Pick<Catalogue, 'offered'>;
  readonly readResource: ReadResource;
  readonly representations: Representations;
  /** Maximum size of a result's text: hosts pass it on, and use data in other ways. */
  readonly maxResultBytes: number;
  /** Bytes of the lists that are kept parsed. */
  readonly maxParsedBytes: number;
  readonly provenance: WriteProvenance;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
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
  const { catalogue, readResource, representations, maxResultBytes, provenance, now } = options;
  const { recordError, challengeFor } = options;
  const search = createSearch(options.maxParsedBytes);
  const show = createShow(options);
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

  const pageBytes = Math.min(MAX_PAGE_BYTES, maxResultBytes);
  const countsBytes = Math.min(MAX_COUNTS_BYTES, maxResultBytes / 2);
  const starts = new WeakMap<Uint32Array, ReadonlySet<number>>();

  /** Whether consecutive pages start at this offset: made-up cursors must not fill the cache. */
  function isStart(snapshot: Snapshot, offset: number): boolean {
    if (offset === 0) return true;
    const { itemStarts } = snapshot;
    const known = starts.get(itemStarts) ?? startsOf(snapshot, pageBytes, MAX_PREPARED);
    starts.set(itemStarts, known);
    return known.has(offset);
  }

  /** Returns the result with one page. */
  async function pageOf(
    load: Load,
    known: Offered['known'],
    { filter, fields, countBy, limit, cursor, misread }: ToolArguments,
    stale: Staleness | undefined,
    { signal }: RequestContext,
  ): Promise<Buffer> {
    const { snapshot } = load;
    const place = { etag: snapshot.etag, filter };
    const offset = readCursor(place, cursor);
    const cursorOf = (next: number) => writeCursor(place, next);
    const page = { offset, limit, cursorOf, maxBytes: maxResultBytes, pageBytes };
    const isNarrowed = filter.query !== undefined || Object.keys(filter.values).length > 0;
    const isCounted = countBy.length > 0;
    const remarks = { ...(misread.length > 0 && { ignoredArguments: misread }), ...remarksOn(load, stale) };
    if (!isNarrowed && !isCounted && fields === undefined) {
      const hint = hintFor(load, filter, undefined, known);
      const whole = () => pageResult(writePage(snapshot, { ...page, members: membersOf(remarks), hint }));
      const isUsual = limit === undefined && stale === undefined && misread.length === 0;
      const isKept = isUsual && isStart(snapshot, offset);
      return isKept ? representations.derived(load, `page ${offset} ${pageBytes}`, whole) : whole();
    }
    const counter = createCounter(countBy);
    const found = isNarrowed || isCounted ? await search(load, filter, signal, counter.add) : undefined;
    const part = {
      ...page,
      found: found?.indices,
      hint: hintFor(load, filter, found, known),
      members: membersOf({ ...(isCounted && { counts: counter.counts(countsBytes) }), ...remarks }),
    };
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
        const stale = stalenessOf(load, now());
        const shown = await show(tool, load, args);
        const page = await pageOf(shown.load, tool.known, shown.args, stale, context);
        return { shared: [page], meta: metaOf(provenance(tool.resource.name, load, stale), args) + shown.meta };
      } catch (thrown) {
        // A model cannot change its client's token.
        if (context.signal.aborted || challengeFor(thrown, context) !== undefined) throw thrown;
        return errorResult(recordError(thrown, context), context.record.requestId);
      }
    },
  };
}

/** Writes a page as a tool's result, as data and as text, up to its last member. */
function pageResult({ data, text }: WrittenPage): Buffer {
  const content = JSON.stringify([{ type: 'text', text }]);
  return Buffer.from(`{"result":{"content":${content},"structuredContent":${data}`);
}

/** Returns members as JSON, each preceded by a comma. */
function membersOf(members: object): string {
  const json = JSON.stringify(members).slice(1, -1);
  return json === '' ? '' : `,${json}`;
}

function metaOf(provenance: string, { ignored }: ToolArguments): string {
  return ignored.length === 0 ? provenance : `${provenance},"portico/ignoredArguments":${JSON.stringify(ignored)}`;
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
