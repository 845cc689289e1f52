import type { SnapshotCache } from './cache.ts';
import { type Coding, compress } from './compress.ts';
import type { Load } from './load.ts';
import { unpooled } from './unpooled.ts';

/** A load's snapshot, and where it is held. */
type Held = Pick<Load, 'snapshot' | 'cached'>;

/**
 * What is made of the bytes of a snapshot: once, as soon as somebody asks for it. It is kept with the snapshot where that
 * is held, and charged for.
 */
export interface Representations {
  /** The bytes in a coding, at once where they were made before. Readers who ask meanwhile wait for the same ones. */
  encoded(held: Held, coding: Coding): Buffer | Promise<Buffer>;
  /** The bytes as a string within JSON: between quotes and escaped, UTF-8. */
  escaped(held: Held): Buffer;
  /** What `make` gives, under a name that says all that it depends on beside the bytes. */
  derived(held: Held, name: string, make: () => Buffer): Buffer;
}

export function createRepresentations(cache: SnapshotCache): Representations {
  const underWay: Record<Coding, WeakMap<Buffer, Promise<Buffer>>> = { zstd: new WeakMap(), gzip: new WeakMap() };
  // Snapshots that share their bytes share it, too; each is charged for it.
  const escapes = new WeakMap<Buffer, WeakRef<Buffer>>();

  function keep({ snapshot, cached }: Held, name: string, made: Buffer): Buffer {
    if (cached !== undefined) cache.addRepresentation(cached.key, snapshot, name, made);
    return made;
  }

  async function encode(held: Held, coding: Coding): Promise<Buffer> {
    const { bytes } = held.snapshot;
    const making = underWay[coding].get(bytes);
    if (making !== undefined) return making;
    const made = compress(bytes, coding);
    underWay[coding].set(bytes, made);
    try {
      return keep(held, coding, await made);
    } finally {
      underWay[coding].delete(bytes);
    }
  }

  return {
    encoded: (held, coding) => held.snapshot.representations[coding] ?? encode(held, coding),
    escaped(held) {
      const { bytes, representations } = held.snapshot;
      if (representations['escaped'] !== undefined) return representations['escaped'];
      const made = escapes.get(bytes)?.deref() ?? unpooled([Buffer.from(JSON.stringify(bytes.toString()))]);
      escapes.set(bytes, new WeakRef(made));
      return keep(held, 'escaped', made);
    },
    derived(held, name, make) {
      return held.snapshot.representations[name] ?? keep(held, name, unpooled([make()]));
    },
  };
}
