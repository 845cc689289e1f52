import type { SnapshotCache } from '../snapshots/cache.ts';
import type { Load } from '../snapshots/load.ts';
import { unpooled } from '../snapshots/snapshot.ts';
import { type Coding, createEncoder } from './encoder.ts';
import { createEscaper } from './escaper.ts';

/** A load's snapshot, and its key in the cache. */
type Held = Pick<Load, 'snapshot' | 'cached'>;

/**
 * Derived forms of a snapshot's bytes, made on first use. They are kept with a stored snapshot and charged; without
 * room they are made and dropped.
 */
export interface Representations {
  /**
   * Returns compressed bytes, without a promise if they exist. Concurrent readers share the work. Rejects with the
   * signal's reason when it aborts.
   */
  encoded(held: Held, coding: Coding, signal: AbortSignal): Buffer | Promise<Buffer>;
  /**
   * Returns the bytes as a JSON string, without a promise if they are few or exist. Otherwise works in steps, shared by
   * snapshots with equal bytes. Throws `overloaded` when too many bytes are being escaped.
   */
  escaped(held: Held): Buffer | Promise<Buffer>;
  /**
   * Returns the result of `make`, kept under a name that contains all its inputs beside the bytes. Only the first few
   * names are kept.
   */
  derived(held: Held, name: string, make: () => Buffer): Buffer;
}

/** Maximum number of kept derived forms per snapshot, because callers choose their names. */
const MAX_REPRESENTATIONS = 64;

/** Bounds of concurrent work. */
export interface RepresentationsOptions {
  /** Concurrent compressions of all snapshots. @default 2, which leaves half of the thread pool to others */
  readonly maxCompressions?: number;
  /** Bytes of long snapshots being escaped; one snapshot is always accepted. @default no bound */
  readonly maxEscapingBytes?: number;
}

export function createRepresentations(
  cache: SnapshotCache,
  { maxCompressions = 2, maxEscapingBytes = Number.POSITIVE_INFINITY }: RepresentationsOptions = {},
): Representations {
  const encode = createEncoder(maxCompressions);
  const escapeBytes = createEscaper(maxEscapingBytes);

  function keep({ snapshot, cached }: Held, name: string, made: Buffer, atMost?: number): Buffer {
    if (cached !== undefined) cache.addRepresentation(cached.key, snapshot, name, made, atMost);
    return made;
  }

  return {
    encoded(held, coding, signal) {
      const { bytes, representations } = held.snapshot;
      return representations[coding] ?? encode(bytes, coding, (made) => keep(held, coding, made), signal);
    },
    escaped(held) {
      const { bytes, representations } = held.snapshot;
      if (representations['escaped'] !== undefined) return representations['escaped'];
      const made = escapeBytes(bytes);
      return made instanceof Promise ? made.then((late) => keep(held, 'escaped', late)) : keep(held, 'escaped', made);
    },
    derived(held, name, make) {
      // Prefix that no other kind of representation uses.
      const key = `derived ${name}`;
      return held.snapshot.representations[key] ?? keep(held, key, unpooled([make()]), MAX_REPRESENTATIONS);
    },
  };
}
