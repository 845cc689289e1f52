import type { Caller } from '../../kernel/caller.ts';
import { createTurnBytes } from '../../kernel/event-loop.ts';
import type { Events } from '../../kernel/events.ts';
import { showHidden } from '../../kernel/hidden-text.ts';
import type { Offered } from '../../reads/catalogue/catalogue.ts';
import type { Load } from '../../reads/snapshots/load.ts';
import { remarksOn, type Staleness } from '../provenance.ts';
import type { RequestContext } from '../request-context.ts';
import type { ToolArguments } from './arguments.ts';
import { type Changes, changesBetween, createDigests, type Digest } from './changes.ts';
import { readCursor, writeCursor } from './cursor.ts';
import { hintFor } from './hints.ts';
import { MAX_PAGE_BYTES, writePage } from './list-page.ts';
import { createSearches, type SearchBounds } from './search.ts';

/** Maximum size of the ids that have changed. */
const MAX_CHANGES_BYTES = 6000;

const MAX_DIGEST_BYTES = 8_388_608;

const UNKNOWN_LIST =
  'What has changed is not known, or too much: this is the whole list. Ask again with its etag as changed_since.';

/** Bytes of items that are read for pages in one turn of the event loop. */
const TURN_BYTES = 131_072;

export interface ResultPagesOptions extends SearchBounds {
  /** Maximum size of a result's text: hosts pass it on, and use data in other ways. */
  readonly maxResultBytes: number;
  /** `keep`: leaves the hidden characters of lists as they are. */
  readonly hiddenText: 'escape' | 'keep';
  readonly events: Events;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/** The JSON of a result from `content` on, and how many hidden characters it shows, by field. */
export interface ResultPage {
  readonly json: Buffer;
  readonly hidden: ReadonlyMap<string, number>;
}

/** Writes the page of a list that the arguments of a tool ask for. */
export function createResultPages(options: ResultPagesOptions) {
  const { maxResultBytes, hiddenText, events, now } = options;
  const search = createSearches(options);
  const turn = createTurnBytes(TURN_BYTES);
  const digests = createDigests(MAX_DIGEST_BYTES, now);
  const pageBytes = Math.min(MAX_PAGE_BYTES, maxResultBytes);
  const changesBytes = Math.min(MAX_CHANGES_BYTES, maxResultBytes / 2);

  /** Returns `undefined` where the earlier list is not known, or more has changed than a result holds. */
  function changesFor(caller: Caller, resource: string, etag: string, since = '', digest: Digest): Changes | undefined {
    const before = digests.find(caller, resource, since);
    digests.keep(caller, resource, { etag, digest });
    const changes = before && changesBetween(before, digest);
    return changes && Buffer.byteLength(JSON.stringify(changes)) <= changesBytes ? changes : undefined;
  }

  return async function pageOf(
    offered: Offered,
    args: ToolArguments,
    load: Load,
    stale: Staleness | undefined,
    { caller, signal }: RequestContext,
  ): Promise<ResultPage> {
    const { snapshot } = load;
    const { filter, countBy, cursor, unknownArguments, order, isTable, changedSince } = args;
    const { resource } = offered;
    const keepsHidden = hiddenText === 'keep';
    const hidden = new Map<string, number>();

    function show(field: string, text: string): string {
      if (keepsHidden) return text;
      const shown = showHidden(text);
      if (shown.hidden > 0) hidden.set(field, (hidden.get(field) ?? 0) + shown.hidden);
      return shown.text;
    }

    const place = { etag: snapshot.etag, filter: { ...filter, ...order } };
    const offset = cursor === undefined ? 0 : readCursor(place, cursor);
    const hasDigest = changedSince !== undefined;
    const found =
      isSearch(args) && caller
        ? await search(snapshot, { filter, countBy, order, hasDigest }, caller, signal)
        : undefined;
    const changes =
      caller && found?.digest && changesFor(caller, resource.name, snapshot.etag, changedSince, found.digest);
    const members = membersOf({
      ...(countBy.length > 0 && { counts: found?.counts(show) }),
      ...(hasDigest && {
        etag: snapshot.etag,
        ...(changes ? { changes: shownChanges(changes, show) } : { hint: UNKNOWN_LIST }),
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
        hint: hasDigest ? undefined : hintFor(load, filter, found, show),
        cursorOf: (next) => writeCursor(place, next),
      },
      signal,
    );
    for (const field of hidden.keys())
      events.mappingWarning?.({ resource: resource.name, upstream: offered.upstream, finding: 'hidden_text', field });
    const content = JSON.stringify([{ type: 'text', text }]);
    return { json: Buffer.from(`"content":${content},"structuredContent":${data}}}`), hidden };
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

/** Members as JSON, each preceded by a comma. */
export function membersOf(members: object): string {
  const json = JSON.stringify(members).slice(1, -1);
  return json === '' ? '' : `,${json}`;
}
