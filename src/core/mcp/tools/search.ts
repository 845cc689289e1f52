import type { Caller } from '../../kernel/caller.ts';
import { nextTurn } from '../../kernel/event-loop.ts';
import { revealHidden } from '../../kernel/hidden-text.ts';
import { createCallerQuota, createKeyedCounter } from '../../kernel/quotas.ts';
import { createSingleFlight } from '../../kernel/single-flight.ts';
import { arraysOf, type Snapshot } from '../../reads/snapshots/snapshot.ts';
import type { Item } from '../../resources/resource.ts';
import type { ToolArguments } from './arguments.ts';
import { type Digest, hashOf } from './changes.ts';
import { createCounter } from './count-values.ts';
import { keepValue, type Values } from './known-values.ts';
import { createSorter } from './order.ts';

/** A search in a list. */
interface Search extends Pick<ToolArguments, 'filter' | 'countBy' | 'order'> {
  /** Whether a digest of the whole list is made. */
  readonly hasDigest: boolean;
}

export interface SearchResult {
  /** In the order that was asked for. */
  readonly indices: Uint32Array;
  /** For an empty result: the values of the filter's fields in this list. */
  readonly seen: ReadonlyMap<string, Values>;
  readonly counts: ReturnType<typeof createCounter>['counts'];
  /** `undefined` unless asked for. */
  readonly digest: Digest | undefined;
}

export interface SearchBounds {
  /** Lists that are searched at once, one for each caller. */
  readonly maxSearches: number;
  /** Searches of all callers that run or wait. */
  readonly maxWaitingSearches: number;
  readonly maxWaitingSearchesPerCaller: number;
}

/**
 * Searches lists, in steps of one turn of the event loop each. The same search of the same list is shared while it runs.
 * Rejects with `overloaded` beyond the bounds, and with the signal's reason when it aborts.
 */
export function createSearches(bounds: SearchBounds) {
  const flights = createSingleFlight<SearchResult>();
  const inQueue = createQueue(bounds);
  return (snapshot: Snapshot, search: Search, caller: Caller, signal: AbortSignal): Promise<SearchResult> => {
    // An entity tag is a digest of the whole list. Filters are case-insensitive.
    const key = `${snapshot.etag} ${JSON.stringify(search).toLowerCase()}`;
    return flights.join(key, signal, (shared) => inQueue(caller, shared, () => searchIn(snapshot, search, shared)));
  };
}

async function searchIn(snapshot: Snapshot, search: Search, signal: AbortSignal): Promise<SearchResult> {
  const { filter, countBy, order, hasDigest } = search;
  const fits = createFits(filter);
  const compared = [...Object.keys(filter.values), filter.after?.field ?? []].flat();
  const seen = new Map(compared.map((field): [string, Values] => [field, new Set()]));
  const counter = createCounter(countBy);
  const sorter = order && createSorter(order);
  const digest = new Map<string, string>();
  const indices: number[] = [];
  let index = 0;
  for (const array of arraysOf(snapshot)) {
    await nextTurn();
    signal.throwIfAborted();
    const found: (readonly [number, Item])[] = [];
    for (const item of JSON.parse(array) as Item[]) {
      if (hasDigest) digest.set(item['id'] ?? '', hashOf(item));
      if (fits(item)) {
        indices.push(index);
        counter.add(item);
        found.push([index, item]);
      } else if (indices.length === 0) for (const [field, values] of seen) keepValue(values, item[field] ?? '');
      index += 1;
    }
    sorter?.add(found);
  }
  return {
    indices: Uint32Array.from(sorter === undefined ? indices : await sorter.sorted(signal)),
    seen,
    counts: counter.counts,
    digest: hasDigest ? digest : undefined,
  };
}

/** Compares texts as they are, with what was asked for as it is and as its hidden characters are shown to a model. */
function createFits({ query = '', values, after }: ToolArguments['filter']): (item: Item) => boolean {
  const texts = Object.entries(values).map(([field, text]) => [field, formsOf(text)] as const);
  const needles = formsOf(query);
  return (item) => {
    for (const [field, forms] of texts) {
      const text = item[field]?.toLowerCase();
      if (text === undefined || !forms.includes(text)) return false;
    }
    if (after !== undefined && !(Date.parse(item[after.field] ?? '') > after.ms)) return false;
    if (query === '') return true;
    for (const field in item) {
      const text = item[field]?.toLowerCase() ?? '';
      for (const needle of needles) if (text.includes(needle)) return true;
    }
    return false;
  };
}

function formsOf(text: string): string[] {
  return [...new Set([text, revealHidden(text)].map((form) => form.toLowerCase()))];
}

/** Runs work for a few callers at once and one piece of each. Next is a caller of the address that has the fewest running. */
function createQueue({ maxSearches, maxWaitingSearches, maxWaitingSearchesPerCaller }: SearchBounds) {
  const places = createCallerQuota({
    max: () => maxWaitingSearches,
    maxPerCaller: maxWaitingSearchesPerCaller,
    bounds: ['mcp.maxWaitingSearches', 'mcp.maxWaitingSearchesPerCaller'],
    taken: ['searches', 'waiting'],
  });
  const runningOf = { caller: createKeyedCounter(), address: createKeyedCounter() };
  const waiting = new Set<{ readonly caller: Caller; start(): void }>();
  let running = 0;

  function startNext(): void {
    if (running >= maxSearches) return;
    const free = [...waiting].filter(({ caller }) => runningOf.caller.taken(caller.credentialKey) === 0);
    const fewest = Math.min(...free.map(({ caller }) => runningOf.address.taken(caller.address)));
    const next = free.find(({ caller }) => runningOf.address.taken(caller.address) === fewest);
    if (next === undefined) return;
    waiting.delete(next);
    running += 1;
    runningOf.caller.take(next.caller.credentialKey);
    runningOf.address.take(next.caller.address);
    next.start();
  }

  return async <T>(caller: Caller, signal: AbortSignal, work: () => Promise<T>): Promise<T> => {
    places.enter(caller);
    await new Promise<void>((start) => {
      waiting.add({ caller, start });
      startNext();
    });
    try {
      signal.throwIfAborted();
      return await work();
    } finally {
      running -= 1;
      runningOf.caller.release(caller.credentialKey);
      runningOf.address.release(caller.address);
      places.leave(caller);
      startNext();
    }
  };
}
