import { createSizedLru } from '../../kernel/tables/sized-lru.ts';
import { nextTurn } from '../../kernel/turns.ts';
import type { Load } from '../../reads/snapshots/load.ts';
import type { Snapshot } from '../../reads/snapshots/snapshot.ts';
import type { Item } from '../../resources/resource.ts';
import type { Filter } from './arguments.ts';
import { createSeen, type Values } from './known-values.ts';

/** Lists are parsed and searched in steps of about this size: other requests have their turn between them. */
const STEP_BYTES = 262_144;

/** Parsed items of one list, in their order, step by step. */
type Steps = Iterable<readonly Item[]>;

/** What a filter leaves of a list. */
export interface Found {
  /** Where the items stand. */
  readonly indices: readonly number[];
  /** Where there are none: what the fields are, in this list, that the filter names. */
  readonly seen: ReadonlyMap<string, Values>;
}

/** Searches a list. Rejects with the signal's reason once that aborts. */
export type Search = (load: Pick<Load, 'snapshot' | 'cached'>, filter: Filter, signal: AbortSignal) => Promise<Found>;

/**
 * Searches lists. Parsed, a list takes several times its bytes: lists of `maxParsedBytes` together are kept parsed, those
 * that were searched last, and as much again may be parsed for that at a time, once for all who ask meanwhile. Any other
 * list is parsed for each search, and each step is forgotten before the next; so is what is not stored, since it was
 * read for one request alone.
 */
export function createSearch(maxParsedBytes: number): Search {
  const held = createSizedLru<Buffer, Steps>({ maxSize: maxParsedBytes, sizeOf: (_steps, { length }) => length });
  const underWay = new Map<Buffer, Promise<Steps>>();
  let bytesUnderWay = 0;

  async function parse(snapshot: Snapshot): Promise<Steps> {
    const { bytes } = snapshot;
    bytesUnderWay += bytes.length;
    try {
      const steps: (readonly Item[])[] = [];
      for await (const step of inTurn(stepsOf(snapshot))) steps.push(step);
      held.set(bytes, steps);
      return steps;
    } finally {
      underWay.delete(bytes);
      bytesUnderWay -= bytes.length;
    }
  }

  function parsed({ snapshot, cached }: Parameters<Search>[0]): Steps | Promise<Steps> {
    const { bytes } = snapshot;
    const known = held.get(bytes) ?? underWay.get(bytes);
    if (known !== undefined) return known;
    if (cached === undefined || bytesUnderWay + bytes.length > maxParsedBytes) return stepsOf(snapshot);
    const parsing = parse(snapshot);
    underWay.set(bytes, parsing);
    return parsing;
  }

  return async (load, filter, signal) => findItems(await parsed(load), filter, signal);
}

/** Parses the items of a snapshot as they are asked for. */
export function* stepsOf({ bytes, itemStarts, count }: Snapshot): Generator<readonly Item[]> {
  const startOf = (index: number) => itemStarts[index] ?? bytes.length;
  let next = 0;
  while (next < count) {
    const begin = startOf(next);
    next += 1;
    while (next < count && startOf(next) - begin < STEP_BYTES) next += 1;
    // A comma or a bracket stands ahead of each start.
    yield JSON.parse(`[${bytes.toString('utf8', begin, startOf(next) - 1)}]`);
  }
}

/** Takes each step in a turn of its own, the first one too: many may ask in one turn. */
async function* inTurn(steps: Steps): AsyncGenerator<readonly Item[]> {
  const rest = steps[Symbol.iterator]();
  for (;;) {
    await nextTurn();
    const { done, value } = rest.next();
    if (done === true) return;
    yield value;
  }
}

async function findItems(steps: Steps, filter: Filter, signal: AbortSignal): Promise<Found> {
  const fits = createFits(filter);
  const seen = createSeen(Object.keys(filter.values));
  const indices: number[] = [];
  let index = 0;
  for await (const step of inTurn(steps)) {
    signal.throwIfAborted();
    for (const item of step) {
      if (fits(item)) indices.push(index);
      else if (indices.length === 0) seen.add(item);
      index += 1;
    }
  }
  return { indices, seen: seen.values() };
}

/** Whether a filter leaves an item. */
function createFits({ query = '', values }: Filter): (item: Item) => boolean {
  const fields = Object.keys(values);
  const texts = Object.values(values).map((text) => text.toLowerCase());
  const needle = query.toLowerCase();
  return (item) => {
    for (let at = 0; at < fields.length; at += 1) {
      if (item[fields[at] as string]?.toLowerCase() !== texts[at]) return false;
    }
    if (needle === '') return true;
    for (const field in item) if (item[field]?.toLowerCase().includes(needle)) return true;
    return false;
  };
}
