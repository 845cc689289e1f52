import type { Item } from '../../resources/resource.ts';
import { parseItems } from './parse-items.ts';

/** The items of a snapshot's bytes. */
export type ItemStore = (bytes: Buffer) => Promise<readonly Item[]>;

/**
 * Parses what is asked for, and keeps what was asked for last, so that the pages of one list are parsed once. What is
 * kept comes from `maxBytes` of snapshots at most: parsed, they take several times as much.
 */
export function createItemStore(maxBytes: number): ItemStore {
  const held = new Map<Buffer, Promise<readonly Item[]>>();
  let heldBytes = 0;

  function drop(bytes: Buffer): void {
    if (held.delete(bytes)) heldBytes -= bytes.length;
  }

  return (bytes) => {
    const items = held.get(bytes) ?? parseItems(bytes);
    drop(bytes);
    if (bytes.length > maxBytes) return items;
    held.set(bytes, items);
    heldBytes += bytes.length;
    for (const oldest of held.keys()) {
      if (heldBytes <= maxBytes) break;
      drop(oldest);
    }
    return items;
  };
}
