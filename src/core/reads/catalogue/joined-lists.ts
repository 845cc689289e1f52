import { inOrder } from '../../kernel/deadline.ts';
import { GatewayError } from '../../kernel/errors.ts';
import { nextTurn } from '../../kernel/event-loop.ts';
import type { Events } from '../../kernel/events.ts';
import { NO_COUNTS } from '../../mapping/mapper.ts';
import type { Loader } from '../snapshots/load.ts';
import { arraysOf, type EncodedItems, encodeItems, joinPages, type Snapshot } from '../snapshots/snapshot.ts';
import { createBoundedLoader, type LoaderBounds } from './bounded-loader.ts';
import { checkList, type ListRules } from './list-checks.ts';

/** An item of the parents' list: as the platform sent it, with its documented fields in place. */
export type Parent = Readonly<Record<string, unknown>>;

/** Field of the parents' list with the item as the platform sent it, in JSON. */
export const PARENT_ITEM = 'item';

type Item = Readonly<Record<string, string>>;

/** Its bounds are those of the whole read, all lists together. */
interface JoinedListsOptions extends LoaderBounds {
  readonly upstream: string;
  /** The list of the parents, with {@link PARENT_ITEM}. @default the lists have no parent */
  readonly parents?: { readonly open: (events: Events) => Loader; readonly max: number } | undefined;
  /** Each opens one list, of one parent if there are any. `place` is that in settings. @default the only list */
  readonly lists: readonly {
    readonly place?: string | undefined;
    readonly open: (events: Events, parent: Parent | undefined) => Loader;
  }[];
  /** Whether one request may try a parent that does not exist, where the lists of all parents are the same. @default false */
  readonly triesParents?: boolean;
  /** Lists that are read at once. */
  readonly concurrency: number;
  readonly maxItems: number;
  /** Pages of all lists and of the parents' list together. */
  readonly maxPages: number;
  readonly rules: ListRules;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/**
 * Loads one resource from several lists, or from the lists below each parent: complete, or an error, within one deadline. An id that
 * several parents have is joined with the parent's: `<parent id>/<id>`.
 */
export function createJoinedLoader(options: JoinedListsOptions): Loader {
  const { resource, upstream, parents, lists, concurrency, events, now } = options;

  /** Each list reports itself: the events of the resource are those of the whole. */
  const quiet: Events = Object.assign(Object.create(events), {
    loadEnded: undefined,
    listLoaded: undefined,
    limitReached: undefined,
  });

  /** Lists of which a reply has shown that the platform reads their parent. */
  const isParentRead = new Set<number>();

  return createBoundedLoader(options, upstream, async ({ caller, dueAt, account, signal }) => {
    const loadStartedAt = now();
    const startedAt = performance.now();
    const sum = { pages: 0, received: 0, excluded: 0, dropped: 0 };
    const defaulted = new Map<string, number>();
    const own: Events = Object.assign(Object.create(quiet), {
      listLoaded: (list: Parameters<NonNullable<Events['listLoaded']>>[0]) => {
        for (const key of ['received', 'excluded', 'dropped'] as const) sum[key] += list[key];
        for (const [field, times] of list.defaulted) defaulted.set(field, (defaulted.get(field) ?? 0) + times);
      },
    });
    let upstreamMs = 0;
    const loadOne = async (loader: Loader, place: string | undefined) => {
      const load = await loader(caller, signal, { dueAt }).catch((error: unknown) => {
        throw error instanceof GatewayError && place !== undefined ? error.explained(` (in ${place})`) : error;
      });
      upstreamMs += load.upstreamMs;
      sum.pages += load.pages;
      if (sum.pages > options.maxPages)
        throw exceeds('maxPages', `the lists have more pages than maxPages: ${options.maxPages}`);
      account.read(load.snapshot.bytes.length);
      account.hold(load.snapshot.bytes.length);
      return load.snapshot;
    };
    const ofParents: Events = Object.assign(Object.create(quiet), {
      listLoaded: ({ dropped }: typeof sum) => {
        sum.dropped += dropped;
      },
    });
    const owners = parents === undefined ? [undefined] : await readParents(parents.open(ofParents), loadOne);
    const opened = owners.flatMap((parent) =>
      lists.map(({ place, open }) => ({ parent, place, loader: open(own, parent) })),
    );
    const loaded: LoadedList[] = [];
    let count = 0;
    for await (const { parent, items } of inOrder(opened.length, concurrency, signal, readList)) {
      count += items.length;
      if (count > options.maxItems)
        throw exceeds('maxItems', `the lists have more items than maxItems: ${options.maxItems}`);
      loaded.push({ parent, items });
    }
    checkList(resource, options.rules, { ...NO_COUNTS, ...sum });
    if (options.triesParents) await checkParents();
    const snapshot = await join(loaded, loadStartedAt);
    events.listLoaded?.({ resource, upstream, ...sum, items: snapshot.count, defaulted });
    const { pages, excluded, dropped } = sum;
    return { snapshot, pages, excluded, dropped, upstreamMs: Math.min(upstreamMs, performance.now() - startedAt) };

    /** Throws if a list is the same below every parent, and below one that does not exist: then the platform does not read the parent. */
    async function checkParents(): Promise<void> {
      for (const [index, { place, open }] of lists.entries()) {
        const [first, ...others] = loaded.filter((_, at) => at % lists.length === index);
        if (isParentRead.has(index) || !first?.parent || options.rules.duplicateIds === 'allow') continue;
        if (others.length === 0 || !others.every(({ items }) => hasSameIds(items, first.items))) continue;
        const none = await readNone(open(quiet, madeUp(first.parent)), place);
        if (hasSameIds(none, first.items)) throw unreadParent(resource, place);
        isParentRead.add(index);
      }
    }

    async function readNone(loader: Loader, place: string | undefined): Promise<readonly Item[]> {
      try {
        return await itemsOf(await loadOne(loader, place));
      } catch (error) {
        if (error instanceof GatewayError) return [];
        throw error;
      }
    }

    async function readList(index: number) {
      const { parent, place, loader } = opened[index] as (typeof opened)[number];
      return { parent, items: await itemsOf(await loadOne(loader, place)) };
    }
  });

  async function readParents(
    loader: Loader,
    loadOne: (loader: Loader, place: string) => Promise<Snapshot>,
  ): Promise<Parent[]> {
    const items = await itemsOf(await loadOne(loader, 'each'));
    const { max = 0 } = parents ?? {};
    if (items.length > max) {
      throw exceeds('maxParents', `there are ${items.length} parents, more than maxParents: ${max}`);
    }
    return items.map(({ [PARENT_ITEM]: text = '{}', ...documented }) => ({ ...JSON.parse(text), ...documented }));
  }

  /** Joins the items in the order of the lists. Ids that several parents have are joined with the parent's. */
  async function join(loaded: readonly LoadedList[], loadStartedAt: number): Promise<Snapshot> {
    const listOf = new Map<string, LoadedList>();
    const repeated = new Set<string>();
    for (const list of loaded) {
      for (const id of list.items.map(idOf)) {
        if ((listOf.get(id) ?? list) !== list) repeated.add(id);
        listOf.set(id, list);
      }
      await nextTurn();
    }
    const ids = new Set<string>();
    let count = 0;
    const pages: EncodedItems[] = [];
    for (const { parent, items } of loaded) {
      const isRepeated = (item: Item) => parent !== undefined && repeated.has(idOf(item));
      const distinct = items.map((item) =>
        isRepeated(item) ? { ...item, id: `${parent?.['id']}/${idOf(item)}` } : item,
      );
      for (const item of distinct) ids.add(idOf(item));
      count += distinct.length;
      pages.push(encodeItems(distinct));
      await nextTurn();
    }
    if (count > ids.size && options.rules.duplicateIds !== 'allow') {
      const key = parents === undefined ? 'lists' : 'each';
      throw new GatewayError('upstream_invalid', {
        reason: `${count - ids.size} items have the id of another one: correct resources.${resource}.${key}, or set resources.${resource}.duplicateIds: allow`,
      });
    }
    return joinPages(pages, loadStartedAt);
  }
}

interface LoadedList {
  readonly parent: Parent | undefined;
  readonly items: readonly Item[];
}

function idOf({ id = '' }: Item): string {
  return id;
}

/** Whether lists are the same, and not empty. */
function hasSameIds(some: readonly Item[], others: readonly Item[]): boolean {
  return (
    some.length > 0 && some.length === others.length && some.every((item, index) => idOf(item) === others[index]?.id)
  );
}

/** A parent that does not exist, of the same form. */
function madeUp(parent: Parent): Parent {
  return JSON.parse(JSON.stringify(parent), (_key, value) => (typeof value === 'object' ? value : 'portico-probe'));
}

function unreadParent(resource: string, place: string | undefined): GatewayError {
  const at = ['resources', resource, ...(place === undefined ? [] : [place])].join('.');
  const cure = `correct the part of ${at}.path or ${at}.query that names the parent, or set resources.${resource}.duplicateIds: allow`;
  return new GatewayError('upstream_invalid', {
    reason: `every parent has the same list, also one that does not exist: ${cure}`,
    detail: `Every parent has the same list, also one that does not exist. The operator of the gateway has to ${cure}.`,
  });
}

function exceeds(bound: string, reason: string): GatewayError {
  return new GatewayError('upstream_invalid', { reason, bound });
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
