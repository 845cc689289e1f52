import type { Caller } from '../../kernel/caller.ts';
import { explained, type GatewayError } from '../../kernel/errors.ts';
import type { Events } from '../../kernel/events.ts';
import { showHidden } from '../../kernel/hidden-text.ts';
import { isObject } from '../../kernel/json-shape.ts';
import { createSizedLru } from '../../kernel/tables.ts';
import { createTurnBytes } from '../../kernel/turns.ts';
import type { Catalogue, Offered } from '../../reads/catalogue/catalogue.ts';
import type { Load } from '../../reads/snapshots/load.ts';
import type { Snapshot } from '../../reads/snapshots/snapshot.ts';
import { isKnown, type Provenance, remarksOn, type Staleness, stalenessOf } from '../provenance.ts';
import { type ReadResource, type RequestContext, type Result, resultOf } from '../request-context.ts';
import type { ChallengeFor, RecordError } from '../rpc-errors.ts';
import { argumentsShape, createReadArguments, type ToolArguments } from './arguments.ts';
import { type Changes, changesBetween, createDigests, type Digest } from './changes.ts';
import type { ValueCount } from './count-values.ts';
import { readCursor, writeCursor } from './cursor.ts';
import { hintFor } from './hints.ts';
import { MAX_PAGE_BYTES, writePage } from './list-page.ts';
import { createSearches, type SearchBounds } from './search.ts';
import { describeTool } from './tool-definition.ts';

/** Maximum size of counts, which come before the items. */
const MAX_COUNTS_BYTES = 6000;

const MAX_DIGEST_BYTES = 8_388_608;

const UNKNOWN_LIST =
  'What has changed is not known, or too much: this is the whole list. Ask again with its etag as changed_since.';

const MAX_FIRST_PAGES_BYTES = 4_194_304;

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

/** A result without the list, which the client has already. */
const NOT_MODIFIED = [
  '"content":[{"type":"text","text":"{\\"notModified\\":true}"}],"structuredContent":{"notModified":true}}}',
];

/** The JSON of a result from `content` on, and how many hidden characters it shows, by field. */
interface ResultPage {
  readonly json: Buffer;
  readonly hidden: ReadonlyMap<string, number>;
}

type Counts = Readonly<Record<string, readonly ValueCount[]>>;

export function createTools(options: ToolsOptions) {
  const { catalogue, readResource, maxResultBytes, provenance, now, recordError, challengeFor } = options;
  const search = createSearches(options);
  const turn = createTurnBytes(TURN_BYTES);
  const digests = createDigests(MAX_DIGEST_BYTES, now);
  const warn = createWarn(options.events);
  const tools = catalogue.offered.map((offered) => {
    const shape = argumentsShape(offered);
    const tool = describeTool(offered, shape, maxResultBytes);
    return { ...offered, read: createReadArguments(offered, shape), tool };
  });
  const byName = new Map<unknown, (typeof tools)[number]>(tools.map((one) => [one.tool.name, one]));
  const pageBytes = Math.min(MAX_PAGE_BYTES, maxResultBytes);
  const countsBytes = Math.min(MAX_COUNTS_BYTES, maxResultBytes / 2);

  /** First pages of the lists that were asked for last: most calls have no arguments. */
  const firstPages = createSizedLru<Buffer, ResultPage>({
    maxSize: MAX_FIRST_PAGES_BYTES,
    sizeOf: ({ json }) => json.length,
  });

  async function respond(
    offered: Offered,
    args: ToolArguments,
    load: Load,
    { context, params }: { readonly context: RequestContext; readonly params: object },
  ): Promise<Result> {
    const { snapshot } = load;
    const stale = stalenessOf(load, now());
    if (isKnown(snapshot, params))
      return { meta: provenance(offered.resource.name, load, stale), jsonTail: NOT_MODIFIED };
    // Such a page depends on nothing but the bytes of the list.
    const isKept = args.isEmpty && stale === undefined && load.excluded + load.dropped === 0;
    const kept = isKept ? firstPages.get(snapshot.bytes) : undefined;
    const page = kept ?? (await pageOf(offered, args, load, stale, context));
    if (isKept && kept === undefined) firstPages.set(snapshot.bytes, page);
    const meta = {
      ...(args.ignored.length > 0 && { 'portico/ignoredArguments': args.ignored }),
      ...(page.hidden.size > 0 && { 'portico/hiddenText': Object.fromEntries(page.hidden) }),
    };
    return { meta: provenance(offered.resource.name, load, stale) + membersOf(meta), jsonTail: [page.json] };
  }

  /** Returns `undefined` where the earlier list is not known, or more has changed than a result holds. */
  function changesFor(caller: Caller, resource: string, etag: string, since = '', digest: Digest): Changes | undefined {
    const before = digests.find(caller, resource, since);
    digests.keep(caller, resource, { etag, digest });
    const changes = before && changesBetween(before, digest);
    return changes && Buffer.byteLength(JSON.stringify(changes)) <= countsBytes ? changes : undefined;
  }

  /** Writes the page that was asked for. */
  async function pageOf(
    offered: Offered,
    args: ToolArguments,
    load: Load,
    stale: Staleness | undefined,
    { caller, signal }: RequestContext,
  ): Promise<ResultPage> {
    const { snapshot } = load;
    const { filter, countBy, cursor, unknownArguments, order, isTable, changedSince } = args;
    const { resource } = offered;
    const hidden = new Map<string, number>();

    function show(field: string, text: string): string {
      const shown = showHidden(text);
      if (shown.hidden > 0) hidden.set(field, (hidden.get(field) ?? 0) + shown.hidden);
      return shown.text;
    }

    const keepsHidden = options.hiddenText === 'keep';
    const place = { etag: snapshot.etag, filter: { ...filter, ...order } };
    const offset = cursor === undefined ? 0 : readCursor(place, cursor);
    const hasDigest = changedSince !== undefined;
    const found =
      isSearch(args) && caller
        ? await search(snapshot, { filter, countBy, order, hasDigest }, caller, signal)
        : undefined;
    const changes =
      caller && found?.digest && changesFor(caller, resource.name, snapshot.etag, changedSince, found.digest);
    const counts = countBy.length > 0 ? found?.counts(countsBytes) : undefined;
    const members = membersOf({
      ...(counts && { counts: keepsHidden ? counts : shownCounts(counts, show) }),
      ...(hasDigest && {
        etag: snapshot.etag,
        ...(changes ? { changes: keepsHidden ? changes : shownChanges(changes, show) } : { hint: UNKNOWN_LIST }),
      }),
      ...(unknownArguments.length > 0 && { ignoredArguments: unknownArguments }),
      ...remarksOn(load, stale),
    });
    const { text, data } = await writePage(
      snapshot,
      {
        ...{ found: found?.indices, offset, members, isTable, turn, pageBytes, maxBytes: maxResultBytes },
        limit: changes === undefined ? args.limit : 0,
        fields: args.fields ?? (isTable ? Object.keys(resource.shape.shape) : undefined),
        show: keepsHidden ? undefined : show,
        hint: hasDigest
          ? undefined
          : hintFor(load, filter, found, offered.known, (value) => (keepsHidden ? value : showHidden(value).text)),
        cursorOf: (next) => writeCursor(place, next),
      },
      signal,
    );
    warn(offered, snapshot, hidden.keys());
    const content = JSON.stringify([{ type: 'text', text }]);
    return { json: Buffer.from(`"content":${content},"structuredContent":${data}}}`), hidden };
  }

  return {
    /** Result of `tools/list`. */
    list: tools.map(({ tool }) => tool),
    /** `tools/call`: one page of a list. */
    async call(
      params: { readonly name?: unknown; readonly arguments?: unknown },
      context: RequestContext,
    ): Promise<Result> {
      const { name, arguments: given } = params;
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
        return await respond(tool, args, await readResource(tool.resource.name, context), { context, params });
      } catch (thrown) {
        // A model cannot change its client's token.
        if (context.signal.aborted || challengeFor(thrown) !== undefined) throw thrown;
        return errorResult(recordError(thrown, context), context.record.requestId);
      }
    },
  };
}

function isSearch({ filter: { query, values, after }, countBy, order, changedSince }: ToolArguments): boolean {
  return (
    countBy.length + Object.keys(values).length > 0 ||
    [query, after, order, changedSince].some((one) => one !== undefined)
  );
}

function shownChanges({ new: added, changed, gone }: Changes, show: (field: string, text: string) => string): Changes {
  const shown = (ids: readonly string[]) => ids.map((id) => show('id', id));
  return { new: shown(added), changed: shown(changed), gone: shown(gone) };
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
  const text = `${code}: ${detail}${wait} (${whence}request ${requestId})`;
  const error = { code, requestId, upstream, retryAfterSeconds };
  const result = resultOf({ isError: true, content: [{ type: 'text', text }] }, { 'portico/error': error });
  return { ...result, isError: true };
}
