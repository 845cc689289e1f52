import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Item } from '../../resources/resource.ts';

/** About as much as is parsed at one go. */
const STEP_BYTES = 262_144;

/** Ends the name of an item's first field and begins its text. */
const FIELD = '":"';

/**
 * The items of a snapshot, whose fields are all text. In steps, with other requests having their turn between them: a
 * long list would hold the event loop for long.
 */
export async function parseItems(bytes: Buffer): Promise<readonly Item[]> {
  const items: Item[] = [];
  const seam = seamOf(bytes);
  let begun = 0;
  while (bytes.length - begun > STEP_BYTES) {
    const end = bytes.indexOf(seam, begun + STEP_BYTES);
    if (end === -1) break;
    // Each step is an array of its own: up to the brace, less the bracket or comma that it begins with.
    for (const item of itemsIn(bytes.subarray(begun + 1, end + 2))) items.push(item);
    begun = end + 2;
    await nextTurn();
  }
  for (const item of itemsIn(bytes.subarray(begun + 1, -1))) items.push(item);
  return items;
}

/**
 * What stands between two items: `"},{"id":"`, where `id` is the first field. It stands nowhere else: every quote in a
 * text is escaped, and after one that ends a text comes no name.
 */
function seamOf(bytes: Buffer): Buffer {
  const name = bytes.subarray(1, bytes.indexOf(FIELD) + FIELD.length);
  return Buffer.concat([Buffer.from('"},'), name]);
}

function itemsIn(bytes: Buffer): Item[] {
  return JSON.parse(`[${bytes.toString()}]`);
}
