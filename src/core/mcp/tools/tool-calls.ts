import { explained, GatewayError } from '../../kernel/errors.ts';
import type { Events } from '../../kernel/events.ts';
import { showHidden } from '../../kernel/hidden-text.ts';
import { isObject } from '../../kernel/json-shape.ts';
import type { Catalogue, Offered } from '../../reads/catalogue/catalogue.ts';
import type { Representations, ShownList } from '../../reads/representations/representations.ts';
import type { Load } from '../../reads/snapshots/load.ts';
import type { Snapshot } from '../../reads/snapshots/snapshot.ts';
import { cacheOutcome } from '../../reads/snapshots/with-cache.ts';
import type { ReadResource, RequestContext, Result } from '../request-context.ts';
import type { ChallengeFor, RecordError } from '../rpc-errors.ts';
import { argumentsShape, createReadArguments, type ToolArguments } from './arguments.ts';
import { createCounter, type ValueCount } from './count-values.ts';
import {
  type ListPage,
  MAX_PAGE_BYTES,
  readCursor,
  type WrittenPage,
  writeCursor,
  writeFields,
  writePage,
} from './list-page.ts';
import { createSearch, type Found, hintFor } from './search.ts';
import { describeTool } from './tool-definition.ts';

/** Maximum size of counts, which come before the items. */
const MAX_COUNTS_BYTES = 6000;

export interface ToolsOptions {
  readonly catalogue: Pick<Catalogue, 'offered'>;
  readonly readResource: ReadResource;
  readonly representations: Representations;
  /** Maximum size of a result's text: hosts pass it on, and use data in other ways. */
  readonly maxResultBytes: number;
  /** Bytes of the lists that are kept parsed. */
  readonly maxParsedBytes: number;
  /** `keep`: leaves the hidden characters of lists as they are. */
  readonly hiddenText: 'escape' | 'keep';
  readonly events: Events;
  readonly provenance: ReturnType<typeof createProvenance>;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  readonly recordError: RecordError;
  readonly challengeFor: ChallengeFor;
}

/** A list, and what was asked of it. */
interface Listed {
  readonly load: Load;
  readonly known: Offered['known'];
  readonly args: ToolArguments;
  readonly stale: Staleness | undefined;
}

type Counts = Readonly<Record<string, readonly ValueCount[]>>;

export function createTools(options: ToolsOptions) {
  const { catalogue, readResource, representations, maxResultBytes, provenance, now } = options;
  const { recordError, challengeFor, hiddenText, events } = options;
  const search = createSearch(options.maxParsedBytes);
  const tools = catalogue.offered.map((offered) => {
    const shape = argumentsShape(offered);
    const tool = describeTool(offered, shape, maxResultBytes);
    return { ...offered, read: createReadArguments(offered, shape), tool };
  });
  const byName = new Map<unknown, (typeof tools)[number]>(tools.map((one) => [one.tool.name, one]));

  const pageBytes = Math.min(MAX_PAGE_BYTES, maxResultBytes);
  const countsBytes = Math.min(MAX_COUNTS_BYTES, maxResultBytes / 2);
  const firstPage = `derived page 0 ${pageBytes}` as const;

  function partOf({ load, known, args, stale }: Listed, found?: Found, counts?: Counts): ListPage {
    const { filter, limit, misread } = args;
    const place = { etag: load.snapshot.etag, filter };
    const ignored = misread.length > 0 ? { ignoredArguments: misread } : {};
    return {
      offset: offsetOf(load, args),
      limit,
      cursorOf: (next) => writeCursor(place, next),
      maxBytes: maxResultBytes,
      pageBytes,
      members: membersOf({ ...(counts && { counts }), ...ignored, ...remarksOn(load, stale) }),
      found: found?.indices,
      hint: hintFor(load, filter, found, known),
    };
  }

  /** One page of the whole list. The usual ones are kept. */
  function wholePage(listed: Listed): Buffer {
    const { load, args, stale } = listed;
    const offset = offsetOf(load, args);
    const make = () => pageResult(writePage(load.snapshot, partOf(listed)));
    const isUsual = args.limit === undefined && stale === undefined && args.misread.length === 0;
    if (!isUsual) return make();
    return representations.derived(load, offset === 0 ? firstPage : `derived page ${offset} ${pageBytes}`, make);
  }

  /** One page of the items, fields or counts that were asked for. */
  async function partialPage(listed: Listed, signal: AbortSignal): Promise<Buffer> {
    const { load, args } = listed;
    const { filter, fields, countBy } = args;
    const counter = createCounter(countBy);
    const isCounted = countBy.length > 0;
    const isSearched = isCounted || filter.query !== undefined || Object.keys(filter.values).length > 0;
    const found = isSearched ? await search(load, filter, signal, counter.add) : undefined;
    const part = partOf(listed, found, isCounted ? counter.counts(countsBytes) : undefined);
    return pageResult(
      fields === undefined ? writePage(load.snapshot, part) : await writeFields(load.snapshot, part, fields, signal),
    );
  }

  /** Returns the list with its hidden characters shown; `undefined` without any. */
  async function shownList({ resource, upstream }: Offered, load: Load): Promise<ShownList | undefined> {
    return representations.shown(load, ({ hidden }) => {
      for (const field of hidden.keys()) {
        events.mappingWarning?.({ resource: resource.name, upstream, finding: 'hidden_text', field });
      }
    });
  }

  return {
    /** Result of `tools/list`. */
    list: tools.map(({ tool }) => tool),
    /** `tools/call`: one page of a list. */
    async call(
      { name, arguments: given }: { readonly name?: unknown; readonly arguments?: unknown },
      context: RequestContext,
    ): Promise<Result> {
      if (typeof name !== 'string' || (given !== undefined && !isObject(given)))
        throw new GatewayError('invalid_params', { reason: 'tools/call takes name and arguments' });
      const tool = byName.get(name);
      if (tool === undefined) {
        throw explained(
          'invalid_params',
          `There is no such tool. Tools are: ${tools.map(({ tool }) => tool.name).join(', ')}.`,
        );
      }
      context.record.tool = tool.tool.name;
      try {
        const args = tool.read(given);
        const load = await readResource(tool.resource.name, context);
        const stale = stalenessOf(load, now());
        const keepsHidden = hiddenText === 'keep' || representations.hidesNothing(load);
        const shown = keepsHidden ? undefined : await shownList(tool, load);
        const listed = listedAs(shown, { load, known: tool.known, args, stale });
        const page = args.isWhole ? wholePage(listed) : await partialPage(listed, context.signal);
        return { meta: metaOf(provenance(tool.resource.name, load, stale), args, shown), shared: [page] };
      } catch (thrown) {
        // A model cannot change its client's token.
        if (context.signal.aborted || challengeFor(thrown) !== undefined) throw thrown;
        return errorResult(recordError(thrown, context), context.record.requestId);
      }
    },
  };
}

/** Writes a page as a tool's result, as data and as text, up to the end of the response. */
function pageResult({ data, text }: WrittenPage): Buffer {
  return Buffer.from(`"content":${JSON.stringify([{ type: 'text', text }])},"structuredContent":${data}}}`);
}

/** Members as JSON, each preceded by a comma. */
function membersOf(members: object): string {
  const json = JSON.stringify(members).slice(1, -1);
  return json === '' ? '' : `,${json}`;
}

function metaOf(provenance: string, { ignored }: ToolArguments, shown: ShownList | undefined): string {
  let meta = provenance;
  if (ignored.length > 0) meta += `,"portico/ignoredArguments":${JSON.stringify(ignored)}`;
  if (shown !== undefined) meta += `,"portico/hiddenText":${JSON.stringify(Object.fromEntries(shown.hidden))}`;
  return meta;
}

function offsetOf({ snapshot }: Load, { filter, cursor }: ToolArguments): number {
  return cursor === undefined ? 0 : readCursor({ etag: snapshot.etag, filter }, cursor);
}

/** The filter finds a text as it is, and as it is shown. */
function listedAs(shown: ShownList | undefined, listed: Listed): Listed {
  if (shown === undefined) return listed;
  const { load, args } = listed;
  const { query, values } = args.filter;
  const texts = Object.entries(values).map(([field, text]) => [field, showHidden(text).text]);
  const filter = { query: query && showHidden(query).text, values: Object.fromEntries(texts) };
  return { ...listed, load: { ...load, snapshot: shown.snapshot }, args: { ...args, filter } };
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

/** A list is served although its freshness has ended. */
interface Staleness {
  /** Code of the error that prevented a refresh; `undefined` while the first one runs. */
  readonly reason: string | undefined;
}

/** Returns `undefined` for a list that is not stale at `now` (milliseconds since the epoch). */
export function stalenessOf(load: Load, now: number): Staleness | undefined {
  if (cacheOutcome(load, now) !== 'stale') return undefined;
  return { reason: load.cached?.error?.code ?? load.refreshError };
}

/** Where a list comes from, as a member of `_meta`. That of a list that is not stale is constant: written once per snapshot. */
export function createProvenance(offered: readonly Pick<Offered, 'resource' | 'upstream'>[]) {
  const upstreams = new Map(offered.map(({ resource, upstream }) => [resource.name, upstream]));
  const written = new WeakMap<Snapshot, string>();

  function write(resource: string, { snapshot, excluded, dropped }: Load, stale: Staleness | undefined): string {
    const provenance = {
      upstream: upstreams.get(resource),
      loadedAt: timeOf(snapshot),
      etag: snapshot.etag,
      leftOut: { bySettings: excluded, invalid: dropped },
      stale: stale !== undefined,
      staleReason: stale?.reason,
    };
    return `"portico/list":${JSON.stringify(provenance)}`;
  }

  return (resource: string, load: Load, stale: Staleness | undefined): string => {
    if (stale !== undefined) return write(resource, load, stale);
    const known = written.get(load.snapshot);
    if (known !== undefined) return known;
    const made = write(resource, load, undefined);
    written.set(load.snapshot, made);
    return made;
  };
}

/** What a model needs beside the items of a list: nothing for a fresh and whole one. */
function remarksOn({ snapshot, excluded, dropped }: Load, stale: Staleness | undefined) {
  const leftOut = { ...(excluded > 0 && { bySettings: excluded }), ...(dropped > 0 && { invalid: dropped }) };
  return {
    ...(excluded + dropped > 0 && { leftOut }),
    ...(stale && { stale: `Loaded at ${timeOf(snapshot)}. ${whyStale(stale)}` }),
  };
}

function whyStale({ reason }: Staleness): string {
  return reason === undefined ? 'It is being refreshed.' : `The platform could not be read since then: ${reason}.`;
}

function timeOf({ loadedAt }: Snapshot): string {
  return new Date(loadedAt).toISOString();
}
