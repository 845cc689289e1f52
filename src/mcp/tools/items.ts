import { setImmediate as nextTurn } from 'node:timers/promises';
import { createSizedLru, type SizedLru } from '../../kernel/sized-lru.ts';
import type { Item } from '../../resources/resource.ts';
import type { Load } from '../../snapshots/load.ts';
import type { Snapshot } from '../../snapshots/snapshot.ts';
import type { Filter } from './arguments.ts';

/** Long lists are parsed and searched in steps of about this size: other requests have their turn between them. */
const STEP_BYTES = 262_144;
const STEP_ITEMS = 2000;

/** Snapshots whose items are kept parsed. Parsed, they take several times as much. */
const MAX_PARSED_BYTES = 4_194_304;

/** The items of a snapshot, in their order. */
export async function parseItems({ bytes, itemStarts, count }: Snapshot): Promise<readonly Item[]> {
  const items: Item[] = [];
  const startOf = (index: number) => itemStarts[index] ?? bytes.length;
  let next = 0;
  while (next < count) {
    if (next > 0) await nextTurn();
    const begin = startOf(next);
    next += 1;
    while (next < count && startOf(next) - begin < STEP_BYTES) next += 1;
    // A comma or a bracket stands ahead of each start.
    const step: readonly Item[] = JSON.parse(`[${bytes.toString('utf8', begin, startOf(next) - 1)}]`);
    for (const item of step) items.push(item);
  }
  return items;
}

/** Where in a list the items stand that a filter leaves. */
export async function findItems(items: readonly Item[], { query = '', exact }: Filter): Promise<number[]> {
  const fields = Object.entries(exact);
  const needle = query.toLowerCase();
  const has = (text = '') => text.toLowerCase().includes(needle);
  const found: number[] = [];
  for (const [index, item] of items.entries()) {
    if (index > 0 && index % STEP_ITEMS === 0) await nextTurn();
    if (fields.every(([field, text]) => item[field] === text) && (has(item['name']) || has(item['description']))) {
      found.push(index);
    }
  }
  return found;
}

/** Bytes of a snapshot, and its items once they are parsed. */
export type ParsedItems = SizedLru<Buffer, Promise<readonly Item[]>>;

/**
 * Parses the items of loads. Those that were asked for last are kept, so that all pages of a list are parsed once; what
 * is not stored was read for one request alone, and is not kept.
 */
export function createItemParser(
  held: ParsedItems = createSizedLru({ maxSize: MAX_PARSED_BYTES, sizeOf: (_items, { length }) => length }),
): (load: Load) => Promise<readonly Item[]> {
  return ({ snapshot, cached }) => {
    if (cached === undefined) return parseItems(snapshot);
    const known = held.get(snapshot.bytes);
    if (known !== undefined) return known;
    const items = parseItems(snapshot);
    held.set(snapshot.bytes, items);
    return items;
  };
}
