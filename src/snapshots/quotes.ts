import type { SnapshotCache } from './cache.ts';
import type { Load } from './load.ts';
import { unpooled } from './unpooled.ts';

/** The bytes of a load's snapshot as a string within JSON: between quotes and escaped, UTF-8. */
export type Quote = (load: Pick<Load, 'snapshot' | 'cached'>) => Buffer;

/**
 * Makes that once, as soon as somebody asks for it, and keeps it with the snapshot where that is held. Snapshots that
 * share their bytes (`memory.ts`) share it, too; each is charged for it.
 */
export function createQuotes(cache: SnapshotCache): Quote {
  const shared = new WeakMap<Buffer, WeakRef<Buffer>>();
  return ({ snapshot, cached }) => {
    const { bytes, forms } = snapshot;
    if (forms.quoted !== undefined) return forms.quoted;
    const quoted = shared.get(bytes)?.deref() ?? unpooled([Buffer.from(JSON.stringify(bytes.toString()))]);
    shared.set(bytes, new WeakRef(quoted));
    if (cached !== undefined) cache.addForm(cached.key, snapshot, 'quoted', quoted);
    return quoted;
  };
}
