import type { Load } from '../../../src/core/reads/snapshots/load.ts';
import { createSnapshot, encodeItems, type Snapshot } from '../../../src/core/reads/snapshots/snapshot.ts';

export function snapshotOf(items: readonly object[], loadedAt = Date.now()): Snapshot {
  return createSnapshot(encodeItems(items), loadedAt);
}

interface LoadFacts extends Partial<Load> {
  /** Milliseconds since the epoch. @default now */
  readonly loadedAt?: number;
}

/** A load of one page that brought these items. */
export function loadOf(items: readonly object[] = [], { loadedAt, ...rest }: LoadFacts = {}): Load {
  return { snapshot: snapshotOf(items, loadedAt), upstreamMs: 12.34, pages: 1, excluded: 0, dropped: 0, ...rest };
}

/** Cache state of a stored load that is fresh until then (milliseconds since the epoch). */
export function heldUntil(freshUntil: number): Pick<Load, 'cached'> {
  return { cached: { key: 'key-of-the-test', freshUntil, stored: false } };
}

/** A tool as an item of its list. */
export function toolItem(id: string, rest: object = {}): object {
  return { id, name: id, version: '1.0.0', category: 'SCANNER', description: `About ${id}.`, ...rest };
}

/** So many tools, whose JSON is larger than anything below which nothing is compressed. */
export function manyTools(count = 200): object[] {
  return Array.from({ length: count }, (_, index) => toolItem(`tool-${index}`));
}
