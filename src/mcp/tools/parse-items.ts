import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Item } from '../../resources/resource.ts';

/** About as much as is parsed at one go. */
const STEP_BYTES = 262_144;

/** What stands between two items. Within text every quote is escaped, so that it stands nowhere else. */
const SEAM = Buffer.from('"},{"');

/**
 * The items of a snapshot, whose fields are all text. In steps, with other requests having their turn between them: a
 * long list would hold the event loop for long.
 */
export async function parseItems(bytes: Buffer): Promise<readonly Item[]> {
  const items: Item[] = [];
  let begun = 0;
  while (bytes.length - begun > STEP_BYTES) {
    const seam = bytes.indexOf(SEAM, begun + STEP_BYTES);
    if (seam === -1) break;
    // Each step is an array of its own: up to the brace, less the bracket or comma that it begins with.
    for (const item of itemsIn(bytes.subarray(begun + 1, seam + 2))) items.push(item);
    begun = seam + 2;
    await nextTurn();
  }
  for (const item of itemsIn(bytes.subarray(begun + 1, -1))) items.push(item);
  return items;
}

function itemsIn(bytes: Buffer): Item[] {
  return JSON.parse(`[${bytes.toString()}]`);
}
