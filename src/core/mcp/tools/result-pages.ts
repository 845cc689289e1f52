import type { Events } from '../../kernel/events.ts';
import { showHidden } from '../../kernel/hidden-text.ts';
import type { Offered } from '../../reads/catalogue/catalogue.ts';
import type { Load } from '../../reads/snapshots/load.ts';
import { remarksOn, type Staleness } from '../provenance.ts';
import type { RequestContext } from '../request-context.ts';
import type { ToolArguments } from './arguments.ts';
import { type Changes, createDigests } from './changes.ts';
import { readCursor, writeCursor } from './cursor.ts';
import { hintFor } from './hints.ts';
import { createPageWriter } from './list-page.ts';
import { createSearches, type SearchBounds } from './search.ts';

/** Maximum size of the ids that have changed. */
const MAX_CHANGES_BYTES = 6000;

const MAX_DIGEST_BYTES = 8_388_608;

const UNKNOWN_LIST =
  'What has changed is not known, or too much: this is the whole list. Ask again with its etag as changed_since.';

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
  const writePage = createPageWriter(maxResultBytes);
  const digests = createDigests(MAX_DIGEST_BYTES, now);

  /** Whether something fits a result beside its items. */
  const fits = (members: object, maxBytes: number) =>
    Buffer.byteLength(JSON.stringify(members)) <= Math.min(maxBytes, maxResultBytes / 2);

  return async function pageOf(
    offered: Offered,
    args: ToolArguments,
    load: Load,
    stale: Staleness | undefined,
    { caller, signal }: RequestContext,
  ): Promise<ResultPage> {
    const { snapshot } = load;
    const { etag } = snapshot;
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

    const place = { etag, filter: { ...filter, ...order } };
    const offset = cursor === undefined ? 0 : readCursor(place, cursor);
    const hasDigest = changedSince !== undefined;
    const found =
      isSearch(args) && caller
        ? await search(snapshot, { filter, countBy, order, hasDigest }, caller, signal)
        : undefined;
    const since =
      caller &&
      found?.digest &&
      digests.since(caller, resource.name, changedSince ?? '', { etag, digest: found.digest });
    const changes = since && fits(since, MAX_CHANGES_BYTES) ? since : undefined;
    const hint = hasDigest ? undefined : hintFor(load, filter, found, show);
    const members = jsonMembers({
      ...(countBy.length > 0 && { counts: found?.counts(show) }),
      ...(hasDigest && { etag, ...(changes ? { changes: shownChanges(changes, show) } : { hint: UNKNOWN_LIST }) }),
      ...(unknownArguments.length > 0 && { ignoredArguments: unknownArguments }),
      ...remarksOn(load, stale),
      ...(hint !== undefined && fits({ hint }, maxResultBytes) && { hint }),
    });
    const page = {
      ...{ found: found?.indices, offset, members, isTable },
      limit: changes === undefined ? args.limit : 0,
      fields: args.fields ?? (isTable ? Object.keys(resource.shape.shape) : undefined),
      show: keepsHidden ? undefined : show,
      cursorOf: (next: number) => writeCursor(place, next),
    };
    const { text, data } = await writePage(snapshot, page, signal);
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
export function jsonMembers(members: object): string {
  const json = JSON.stringify(members).slice(1, -1);
  return json === '' ? '' : `,${json}`;
}
