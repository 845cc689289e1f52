import type { SnapshotCache } from './cache.ts';
import { type Coding, compress } from './compress.ts';
import type { Load } from './load.ts';

/** The bytes of a load's snapshot in a coding. */
export type Encode = (load: Pick<Load, 'snapshot' | 'cached'>, coding: Coding) => Promise<Buffer>;

/**
 * Makes each form once, as soon as somebody asks for it, and keeps it with the snapshot where that is held. Readers who
 * ask while it is being made wait for the same one.
 */
export function createForms(cache: SnapshotCache): Encode {
  const underWay: Record<Coding, WeakMap<Buffer, Promise<Buffer>>> = { zstd: new WeakMap(), gzip: new WeakMap() };
  return async ({ snapshot, cached }, coding) => {
    const made = snapshot.forms[coding];
    if (made !== undefined) return made;
    const making = underWay[coding].get(snapshot.bytes);
    if (making !== undefined) return making;
    const form = compress(snapshot.bytes, coding);
    underWay[coding].set(snapshot.bytes, form);
    try {
      if (cached !== undefined) cache.addForm(cached.key, snapshot, coding, await form);
      return await form;
    } finally {
      underWay[coding].delete(snapshot.bytes);
    }
  };
}
