import type { SnapshotCache } from '../snapshots/cache.ts';
import type { Load } from '../snapshots/load.ts';
import { unpooled } from '../snapshots/snapshot.ts';
import { type Coding, createEncoder } from './encoder.ts';
import { createEscaper } from './escaper.ts';

/** A load's snapshot, and where it is held. */
type Held = Pick<Load, 'snapshot' | 'cached'>;

/**
 * What is made of the bytes of a snapshot: once, as soon as somebody asks for it. It is kept with the snapshot where that
 * is held, and charged for; where there is no room it is made and forgotten.
 */
export interface Representations {
  /**
   * The bytes in a coding, at once where they were made before. Else made on the thread pool; readers who ask meanwhile
   * wait for the same ones. Rejects with the signal's reason once that aborts.
   */
  encoded(held: Held, coding: Coding, signal: AbortSignal): Buffer | Promise<Buffer>;
  /**
   * The bytes as a string within JSON: between quotes and escaped, UTF-8. At once where they are few, or were made before;
   * else in steps between which other requests have their turn. Snapshots with the same bytes share it, also while it is
   * made. Throws `overloaded` where too many bytes of others are being escaped.
   */
  escaped(held: Held): Buffer | Promise<Buffer>;
  /** What `make` gives, under a name that says all that it depends on beside the bytes. Kept for the first few names. */
  derived(held: Held, name: string, make: () => Buffer): Buffer;
}

/** Representations of one snapshot, beyond which no derived one is kept: callers choose the names, and may try many. */
const MAX_REPRESENTATIONS = 64;

/** What may be made at a time. */
export interface RepresentationsOptions {
  /** Compressions that are under way, of all snapshots. @default 2, which leaves half of the thread pool to others */
  readonly maxCompressions?: number;
  /** Bytes of long snapshots that are being escaped. One is always taken on, however long. @default no bound */
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
      // No name may be that of another kind of representation.
      const key = `derived ${name}`;
      return held.snapshot.representations[key] ?? keep(held, key, unpooled([make()]), MAX_REPRESENTATIONS);
    },
  };
}
