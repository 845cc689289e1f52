import { explained, type GatewayError } from '../../kernel/errors.ts';
import type { Events } from '../../kernel/events.ts';
import { showHidden } from '../../kernel/hidden-text.ts';
import { isObject } from '../../kernel/json-shape.ts';
import { createTurnBytes } from '../../kernel/turns.ts';
import type { Catalogue, Offered } from '../../reads/catalogue/catalogue.ts';
import type { Load } from '../../reads/snapshots/load.ts';
import type { Snapshot } from '../../reads/snapshots/snapshot.ts';
import { type Provenance, remarksOn, stalenessOf } from '../provenance.ts';
import type { ReadResource, RequestContext, Result } from '../request-context.ts';
import type { ChallengeFor, RecordError } from '../rpc-errors.ts';
import { argumentsShape, createReadArguments, type ToolArguments } from './arguments.ts';
import type { ValueCount } from './count-values.ts';
import { readCursor, writeCursor } from './cursor.ts';
import { hintFor } from './hints.ts';
import { MAX_PAGE_BYTES, writePage } from './list-page.ts';
import { createSearches, type SearchBounds } from './search.ts';
import { describeTool } from './tool-definition.ts';

/** Maximum size of counts, which come before the items. */
const MAX_COUNTS_BYTES = 6000;

/** Bytes of items that are read for pages in one turn of the event loop. */
const TURN_BYTES = 131_072;

export interface ToolsOptions extends SearchBounds {
  readonly catalogue: Pick<Catalogue, 'offered'>;
  readonly readResource: ReadResource;
  /** Maximum size of a result's text: hosts pass it on, and use data in other ways. */
  readonly maxResultBytes: number;
  /** `keep`: leaves the hidden characters of lists as they are. */
  readonly hiddenText: 'escape' | 'keep';
  readonly events: Events;
  readonly provenance: Provenance;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  readonly recordError: RecordError;
  readonly challengeFor: ChallengeFor;
}

type Counts = Readonly<Record<string, readonly ValueCount[]>>;

export function createTools(options: ToolsOptions) {
  const { catalogue, readResource, maxResultBytes, provenance, now, recordError, challengeFor } = options;
  const search = createSearches(options);
  const turn = createTurnBytes(TURN_BYTES);
  const warn = createWarn(options.events);
  const tools = catalogue.offered.map((offered) => {
    const shape = argumentsShape(offered);
    const tool = describeTool(offered, shape, maxResultBytes);
    return { ...offered, read: createReadArguments(offered, shape), tool };
  });
  const byName = new Map<unknown, (typeof tools)[number]>(tools.map((one) => [one.tool.name, one]));
  const pageBytes = Math.min(MAX_PAGE_BYTES, maxResultBytes);
  const countsBytes = Math.min(MAX_COUNTS_BYTES, maxResultBytes / 2);

  /** Writes the page that was asked for, as a result. */
  async function pageOf(offered: Offered, args: ToolArguments, load: Load, context: RequestContext): Promise<Result> {
    const { snapshot } = load;
    const { filter, fields, countBy, limit, cursor, misread } = args;
    const hidden = new Map<string, number>();

    function show(field: string, text: string): string {
      const shown = showHidden(text);
      if (shown.hidden > 0) hidden.set(field, (hidden.get(field) ?? 0) + shown.hidden);
      return shown.text;
    }

    const shown = options.hiddenText === 'keep' ? undefined : show;
    const place = { etag: snapshot.etag, filter };
    const offset = cursor === undefined ? 0 : readCursor(place, cursor);
    const found =
      isSearch(args) && context.caller ? await search(snapshot, args, context.caller, context.signal) : undefined;
    const counts = countBy.length > 0 ? found?.counts(countsBytes) : undefined;
    const stale = stalenessOf(load, now());
    const members = membersOf({
      ...(counts && { counts: shown === undefined ? counts : shownCounts(counts, shown) }),
      ...(misread.length > 0 && { ignoredArguments: misread }),
      ...remarksOn(load, stale),
    });
    const page = await writePage(
      snapshot,
      {
        ...{ found: found?.indices, offset, limit, fields, show: shown, members, turn, pageBytes },
        hint: hintFor(load, filter, found, offered.known, (text) =>
          shown === undefined ? text : showHidden(text).text,
        ),
        cursorOf: (next) => writeCursor(place, next),
        maxBytes: maxResultBytes,
      },
      () => context.signal,
    );
    warn(offered, snapshot, hidden.keys());
    const meta = provenance(offered.resource.name, load, stale) + metaOf(args, hidden);
    const content = JSON.stringify([{ type: 'text', text: page.text }]);
    return { meta, shared: [Buffer.from(`"content":${content},"structuredContent":${page.data}}}`)] };
  }

  return {
    /** Result of `tools/list`. */
    list: tools.map(({ tool }) => tool),
    /** `tools/call`: one page of a list. */
    async call(
      { name, arguments: given }: { readonly name?: unknown; readonly arguments?: unknown },
      context: RequestContext,
    ): Promise<Result> {
      if (typeof name !== 'string') throw explained('invalid_params', 'params.name: Must be the name of a tool.');
      if (given !== undefined && !isObject(given))
        throw explained('invalid_params', 'params.arguments: Must be an object.');
      const tool = byName.get(name);
      if (tool === undefined) {
        const names = tools.map((one) => one.tool.name).join(', ');
        throw explained('invalid_params', `There is no such tool. Tools are: ${names}.`);
      }
      context.record.tool = tool.tool.name;
      try {
        const args = tool.read(given);
        return await pageOf(tool, args, await readResource(tool.resource.name, context), context);
      } catch (thrown) {
        // A model cannot change its client's token.
        if (context.signal.aborted || challengeFor(thrown) !== undefined) throw thrown;
        return errorResult(recordError(thrown, context), context.record.requestId);
      }
    },
  };
}

function isSearch({ filter: { query, values }, countBy }: ToolArguments): boolean {
  return countBy.length > 0 || query !== undefined || Object.keys(values).length > 0;
}

function shownCounts(counts: Counts, show: (field: string, text: string) => string): Counts {
  const all = Object.entries(counts).map(([field, values]) => [
    field,
    values.map((one) => ('value' in one ? { ...one, value: show(field, one.value) } : one)),
  ]);
  return Object.fromEntries(all);
}

/** Members as JSON, each preceded by a comma. */
function membersOf(members: object): string {
  const json = JSON.stringify(members).slice(1, -1);
  return json === '' ? '' : `,${json}`;
}

function metaOf({ ignored }: ToolArguments, hidden: ReadonlyMap<string, number>): string {
  return membersOf({
    ...(ignored.length > 0 && { 'portico/ignoredArguments': ignored }),
    ...(hidden.size > 0 && { 'portico/hiddenText': Object.fromEntries(hidden) }),
  });
}

/** Warns of each field whose hidden characters are shown, once for each list. */
function createWarn(events: Events) {
  const warned = new WeakMap<Snapshot, Set<string>>();
  return ({ resource, upstream }: Offered, snapshot: Snapshot, fields: Iterable<string>): void => {
    for (const field of fields) {
      const known = warned.get(snapshot) ?? new Set();
      if (known.has(field)) continue;
      warned.set(snapshot, known.add(field));
      events.mappingWarning?.({ resource: resource.name, upstream, finding: 'hidden_text', field });
    }
  };
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
