import { type Caller, requestOf } from '../../kernel/caller.ts';
import { inOrder, withDeadline } from '../../kernel/deadline.ts';
import { codeOf, GatewayError } from '../../kernel/errors.ts';
import { nextTurn } from '../../kernel/event-loop.ts';
import type { Events } from '../../kernel/events.ts';
import { NO_COUNTS } from '../../mapping/mapper.ts';
import type { Load, Loader } from '../snapshots/load.ts';
import { arraysOf, type EncodedItems, encodeItems, joinPages, type Snapshot } from '../snapshots/snapshot.ts';
import { checkList, type ListRules } from './list-checks.ts';

/** An item of the parents' list: as the platform sent it, with its documented fields in place. */
export type Parent = Readonly<Record<string, unknown>>;

/** Field of the parents' list with the item as the platform sent it, in JSON. */
export const PARENT_ITEM = 'item';

type Item = Readonly<Record<string, string>>;

interface JoinedListsOptions {
  readonly resource: string;
  readonly upstream: string;
  /** Of the whole read, all lists together. */
  readonly timeoutMs: number;
  /** The list of the parents, with {@link PARENT_ITEM}. @default the lists have no parent */
  readonly parents?: { readonly open: (events: Events) => Loader; readonly max: number } | undefined;
  /** Each opens one list, of one parent if there are any. */
  readonly lists: readonly ((events: Events, parent: Parent | undefined) => Loader)[];
  /** Lists that are read at once. */
  readonly concurrency: number;
  readonly maxItems: number;
  /** Of all lists and of the parents' list together. */
  readonly maxPages: number;
  readonly rules: ListRules;
  readonly events: Events;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/**
 * Loads one resource from several lists, or from the lists below each parent: complete, or an error, within one deadline. An id that
 * several parents have is joined with the parent's: `<parent id>/<id>`.
 */
export function createJoinedLoader(options: JoinedListsOptions): Loader {
  const { resource, upstream, timeoutMs, parents, lists, concurrency, events, now } = options;

  return async (caller, signal) => {
    const begun = performance.now();
    const emitEnd = (why?: { readonly error: string; readonly reason: string | undefined }) =>
      events.loadEnded?.({ resource, upstream, ms: performance.now() - begun, ...why });
    try {
      const load = await withDeadline(timeoutMs, signal, (until) => loadAll(caller, until));
      emitEnd();
      return load;
    } catch (error) {
      emitEnd({ error: codeOf(error, signal), reason: error instanceof GatewayError ? error.reason : undefined });
      throw error instanceof GatewayError ? error.from(upstream) : error;
    }
  };

  async function loadAll(caller: Caller, signal: AbortSignal): Promise<Load> {
    const startedAt = now();
    const begun = performance.now();
    const sum = { pages: 0, received: 0, excluded: 0, dropped: 0 };
    const defaulted = new Map<string, number>();
    /** Each list reports itself: the events of the resource are those of the whole. */
    const own: Events = Object.assign(Object.create(events), {
      loadEnded: undefined,
      listLoaded: (list: Parameters<NonNullable<Events['listLoaded']>>[0]) => {
        for (const key of ['received', 'excluded', 'dropped'] as const) sum[key] += list[key];
        for (const [field, times] of list.defaulted) defaulted.set(field, (defaulted.get(field) ?? 0) + times);
      },
    });
    let upstreamMs = 0;
    const loadOne = async (loader: Loader) => {
      const load = await loader(caller, signal);
      upstreamMs += load.upstreamMs;
      sum.pages += load.pages;
      if (sum.pages > options.maxPages)
        throw exceeds(caller, 'maxPages', `the lists have more pages than maxPages: ${options.maxPages}`);
      return load.snapshot;
    };
    const owners = parents === undefined ? [undefined] : await readParents(caller, loadOne);
    const opened = owners.flatMap((parent) => lists.map((open) => ({ parent, loader: open(own, parent) })));
    const loaded: { readonly parent: Parent | undefined; readonly items: readonly Item[] }[] = [];
    let count = 0;
    for await (const { parent, items } of inOrder(opened.length, concurrency, signal, readList)) {
      count += items.length;
      if (count > options.maxItems)
        throw exceeds(caller, 'maxItems', `the lists have more items than maxItems: ${options.maxItems}`);
      loaded.push({ parent, items });
    }
    checkList(resource, options.rules, { ...NO_COUNTS, ...sum });
    const snapshot = await join(loaded, startedAt);
    events.listLoaded?.({ resource, upstream, ...sum, items: snapshot.count, defaulted });
    const { pages, excluded, dropped } = sum;
    return { snapshot, pages, excluded, dropped, upstreamMs: Math.min(upstreamMs, performance.now() - begun) };

    async function readList(index: number) {
      const { parent, loader } = opened[index] as (typeof opened)[number];
      return { parent, items: await itemsOf(await loadOne(loader)) };
    }
  }

  async function readParents(caller: Caller, loadOne: (loader: Loader) => Promise<Snapshot>): Promise<Parent[]> {
    if (parents === undefined) return [];
    const quiet: Events = Object.assign(Object.create(events), { loadEnded: undefined, listLoaded: undefined });
    const items = await itemsOf(await loadOne(parents.open(quiet)));
    if (items.length > parents.max) {
      throw exceeds(caller, 'maxParents', `there are ${items.length} parents, more than maxParents: ${parents.max}`);
    }
    return items.map(({ [PARENT_ITEM]: text = '{}', ...documented }) => ({ ...JSON.parse(text), ...documented }));
  }

  function exceeds(caller: Caller, bound: string, reason: string): GatewayError {
    events.limitReached?.({ ...requestOf(caller), bound, upstream });
    return new GatewayError('upstream_invalid', { reason, bound });
  }

  /** Joins the items in the order of the lists. Ids that several parents have are joined with the parent's. */
  async function join(
    loaded: readonly { readonly parent: Parent | undefined; readonly items: readonly Item[] }[],
    startedAt: number,
  ): Promise<Snapshot> {
    const seen = new Set<string>();
    const repeated = new Set<string>();
    for (const { items } of loaded) {
      const ids = new Set(items.map(({ id = '' }) => id));
      for (const id of ids) if (seen.has(id)) repeated.add(id);
      for (const id of ids) seen.add(id);
    }
    if (parents === undefined && repeated.size > 0 && options.rules.duplicateIds !== 'allow') {
      throw new GatewayError('upstream_invalid', {
        reason: `${repeated.size} ids are in several of the lists: correct resources.${resource}.lists, or set resources.${resource}.duplicateIds: allow`,
      });
    }
    const pages: EncodedItems[] = [];
    for (const { parent, items } of loaded) {
      const isRepeated = ({ id = '' }: Item) => parent !== undefined && repeated.has(id);
      const distinct = items.map((item) =>
        isRepeated(item) ? { ...item, id: `${parent?.['id']}/${item['id']}` } : item,
      );
      pages.push(encodeItems(distinct));
      await nextTurn();
    }
    return joinPages(pages, startedAt);
  }
}

async function itemsOf(snapshot: Snapshot): Promise<readonly Item[]> {
  const items: Item[] = [];
  for (const array of arraysOf(snapshot)) {
    if (items.length > 0) await nextTurn();
    for (const item of JSON.parse(array)) items.push(item);
  }
  return items;
}

const NO_SEGMENT: readonly unknown[] = ['', '.', '..'];

/** Returns the text at a path of names in a parent, for a path of the platform. Throws `upstream_invalid` if there is none. */
export function textOfParent(parent: Parent, path: string): string {
  const value = path
    .split('.')
    .reduce<unknown>((at, name) => (Object.hasOwn(Object(at), name) ? Object(at)[name] : undefined), parent);
  const text = typeof value === 'string' || typeof value === 'number' ? String(value) : '';
  if (!NO_SEGMENT.includes(text)) return text;
  throw new GatewayError('upstream_invalid', { reason: `a parent has no text at parent.${path}: correct the path` });
}
