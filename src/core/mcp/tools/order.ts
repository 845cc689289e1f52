import { nextTurn } from '../../kernel/event-loop.ts';
import type { Item } from '../../resources/resource.ts';

/** An order of items by one field. Texts are compared without regard to case, versions by their numbers. */
export interface Order {
  readonly field: string;
  readonly isDescending: boolean;
  readonly isVersion: boolean;
}

interface Entry {
  readonly index: number;
  readonly key: string;
}

/** Entries that are merged in one turn of the event loop. */
const STEP_ENTRIES = 16_384;

/** Digits of a number in a version, so that its text sorts like the number. */
const DIGITS = 12;

/** Sorts items in steps of one turn. Items with equal keys stay in the order of the list. */
export function createSorter({ field, isDescending, isVersion }: Order) {
  let runs: Entry[][] = [];

  function compare(a: Entry, b: Entry): number {
    if (a.key === b.key) return a.index - b.index;
    return a.key < b.key === isDescending ? 1 : -1;
  }

  function entryOf(item: Item, index: number): Entry {
    const text = (item[field] ?? '').toLowerCase();
    return { index, key: isVersion ? text.replaceAll(/\d+/g, (digits) => digits.padStart(DIGITS, '0')) : text };
  }

  async function merge(left: readonly Entry[], right: readonly Entry[], signal: AbortSignal): Promise<Entry[]> {
    const merged: Entry[] = [];
    for (let [l, r] = [0, 0]; l + r < left.length + right.length; ) {
      const [a, b] = [left[l], right[r]];
      const isLeft = a !== undefined && (b === undefined || compare(a, b) < 0);
      merged.push((isLeft ? a : b) as Entry);
      if (isLeft) l += 1;
      else r += 1;
      if (merged.length % STEP_ENTRIES > 0) continue;
      await nextTurn();
      signal.throwIfAborted();
    }
    return merged;
  }

  return {
    /** Adds the items of one step, with their indexes. */
    add(items: readonly (readonly [index: number, item: Item])[]): void {
      runs.push(items.map(([index, item]) => entryOf(item, index)).sort(compare));
    },
    /** The indexes in order. Rejects with the signal's reason when it aborts. */
    async sorted(signal: AbortSignal): Promise<number[]> {
      while (runs.length > 1) {
        const merged: Entry[][] = [];
        for (let at = 0; at < runs.length; at += 2)
          merged.push(await merge(runs[at] ?? [], runs[at + 1] ?? [], signal));
        runs = merged;
      }
      return (runs[0] ?? []).map(({ index }) => index);
    },
  };
}
