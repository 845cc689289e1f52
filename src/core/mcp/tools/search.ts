import { createSizedLru } from '../../kernel/tables.ts';
import { nextTurn } from '../../kernel/turns.ts';
import type { Load } from '../../reads/snapshots/load.ts';
import { arraysOf, type Snapshot } from '../../reads/snapshots/snapshot.ts';
import type { Item } from '../../resources/resource.ts';
import type { Filter } from './arguments.ts';
import { createSeen, listValues, type Values, valuesOf } from './known-values.ts';

type Steps = Iterable<readonly Item[]>;

export interface Found {
  readonly indices: readonly number[];
  /** For an empty result: the values of the filter's fields in this list. */
  readonly seen: ReadonlyMap<string, Values>;
}

type Searched = Pick<Load, 'snapshot' | 'cached'>;

/**
 * A parsed list takes several times its bytes: the lists searched last are kept parsed, `maxParsedBytes` in total, and as
 * much again may be parsed at a time, shared by concurrent searches. Other lists, and those that are not stored, are parsed
 * in steps that are dropped.
 */
export function createSearch(maxParsedBytes: number) {
  const held = createSizedLru<Buffer, Steps>({ maxSize: maxParsedBytes, sizeOf: (_steps, { length }) => length });
  const inFlight = new Map<Buffer, Promise<Steps>>();
  let bytesInFlight = 0;

  async function parse(snapshot: Snapshot): Promise<Steps> {
    const { bytes } = snapshot;
    bytesInFlight += bytes.length;
    try {
      const steps: (readonly Item[])[] = [];
      for await (const step of inTurn(stepsOf(snapshot))) steps.push(step);
      held.set(bytes, steps);
      return steps;
    } finally {
      inFlight.delete(bytes);
      bytesInFlight -= bytes.length;
    }
  }

  function parsed({ snapshot, cached }: Searched): Steps | Promise<Steps> {
    const { bytes } = snapshot;
    const known = held.get(bytes) ?? inFlight.get(bytes);
    if (known !== undefined) return known;
    if (cached === undefined || bytesInFlight + bytes.length > maxParsedBytes) return stepsOf(snapshot);
    const parsing = parse(snapshot);
    inFlight.set(bytes, parsing);
    return parsing;
  }

  /** Visits each item that it finds. Rejects with the signal's reason when it aborts. */
  return async (load: Searched, filter: Filter, signal: AbortSignal, visit?: (item: Item) => void): Promise<Found> => {
    const fits = createFits(filter);
    const seen = createSeen(Object.keys(filter.values));
    const indices: number[] = [];
    let index = 0;
    for await (const step of inTurn(await parsed(load))) {
      signal.throwIfAborted();
      for (const item of step) {
        if (fits(item)) {
          indices.push(index);
          visit?.(item);
        } else if (indices.length === 0) seen.add(item);
        index += 1;
      }
    }
    return { indices, seen: seen.values() };
  };
}

/** Parses on demand. */
export function* stepsOf(snapshot: Snapshot): Generator<readonly Item[]> {
  for (const array of arraysOf(snapshot)) yield JSON.parse(array);
}

/** Runs each step in a turn of its own, also the first, because many may start in one turn. */
async function* inTurn(steps: Steps): AsyncGenerator<readonly Item[]> {
  const rest = steps[Symbol.iterator]();
  for (;;) {
    await nextTurn();
    const { done, value } = rest.next();
    if (done === true) return;
    yield value;
  }
}

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

/**
 * Why a list has no items, or the values of the filter's fields in this list, and further ones in settings. `found` must come
 * from this load, which belongs to this caller.
 */
export function hintFor(
  { snapshot, excluded, dropped }: Load,
  { query, values }: Filter,
  found: Found | undefined,
  known: Readonly<Record<string, readonly string[]>>,
): string | undefined {
  if (snapshot.count === 0) return excluded + dropped === 0 ? NONE_EXIST : NONE_LEFT;
  if (found === undefined || found.indices.length > 0) return undefined;
  const fields = Object.keys(values);
  const hints = fields.map((field) => hintOf(field, found.seen.get(field), known[field] ?? []));
  if (query !== undefined) hints.push('query: use a shorter text, or omit it.');
  const together = hints.length > 1 ? ' all of this together' : '';
  return [`No item fits${together}.`, ...hints].join(' ');
}

const NONE_EXIST = 'The platform returned no items for this caller.';
const NONE_LEFT = 'Every item of the platform was excluded or dropped: see leftOut.';

function hintOf(field: string, seen: Values = valuesOf([]), known: readonly string[]): string {
  const inList = listValues(seen);
  const elsewhere = listValues(valuesOf(known.filter((value) => !seen.values.includes(value))));
  const there = inList === '' ? 'has no value in this list' : `is one of these in this list: ${inList}`;
  return `${field} ${there}${elsewhere === '' ? '' : `; known, but not in this list: ${elsewhere}`}.`;
}
