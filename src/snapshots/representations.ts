import { nextTurn } from '../kernel/turns.ts';
import type { SnapshotCache } from './cache.ts';
import { type Coding, createEncoder } from './encoder.ts';
import type { Load } from './load.ts';
import { unpooled } from './snapshot.ts';

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
   * made.
   */
  escaped(held: Held): Buffer | Promise<Buffer>;
  /** What `make` gives, under a name that says all that it depends on beside the bytes. Kept for the first few names. */
  derived(held: Held, name: string, make: () => Buffer): Buffer;
}

/** Representations of one snapshot, beyond which no derived one is kept: callers choose the names, and may try many. */
const MAX_REPRESENTATIONS = 64;

/** Leaves half of the thread pool to others. */
const MAX_COMPRESSIONS = 2;

/** Bytes that are escaped, and bytes that are copied, in one turn of the event loop: each takes about a millisecond. */
const ESCAPE_STEP_BYTES = 262_144;
const COPY_STEP_BYTES = 4_194_304;

const QUOTE = Buffer.from('"');

/** `maxCompressions` is how many are under way at once, of all snapshots. */
export function createRepresentations(cache: SnapshotCache, maxCompressions = MAX_COMPRESSIONS): Representations {
  const encode = createEncoder(maxCompressions);
  // Serves snapshots that are not held, too, for as long as some reader has the escaped bytes in hand.
  const escapes = new WeakMap<Buffer, WeakRef<Buffer>>();
  const escaping = new WeakMap<Buffer, Promise<Buffer>>();

  function keep({ snapshot, cached }: Held, name: string, made: Buffer, atMost?: number): Buffer {
    if (cached !== undefined) cache.addRepresentation(cached.key, snapshot, name, made, atMost);
    return made;
  }

  async function escapeLong(held: Held): Promise<Buffer> {
    const { bytes } = held.snapshot;
    const making = escaping.get(bytes) ?? escapeInSteps(bytes);
    escaping.set(bytes, making);
    try {
      const made = await making;
      escapes.set(bytes, new WeakRef(made));
      return keep(held, 'escaped', made);
    } finally {
      escaping.delete(bytes);
    }
  }

  return {
    encoded(held, coding, signal) {
      const { bytes, representations } = held.snapshot;
      return representations[coding] ?? encode(bytes, coding, (made) => keep(held, coding, made), signal);
    },
    escaped(held) {
      const { bytes, representations } = held.snapshot;
      const kept = representations['escaped'];
      if (kept !== undefined) return kept;
      const shared = escapes.get(bytes)?.deref();
      if (shared !== undefined) return keep(held, 'escaped', shared);
      if (bytes.length > ESCAPE_STEP_BYTES) return escapeLong(held);
      const made = unpooled([QUOTE, escapeBytes(bytes), QUOTE]);
      escapes.set(bytes, new WeakRef(made));
      return keep(held, 'escaped', made);
    },
    derived(held, name, make) {
      // No name may be that of another kind of representation.
      const key = `derived ${name}`;
      return held.snapshot.representations[key] ?? keep(held, key, unpooled([make()]), MAX_REPRESENTATIONS);
    },
  };
}

/**
 * UTF-8 as it stands within a string of JSON. What is escaped there is ASCII, of which no byte is part of another
 * character: so it may begin and end anywhere, and each byte may pass for a character (Latin-1), which is fastest.
 */
function escapeBytes(bytes: Buffer): Buffer {
  return Buffer.from(JSON.stringify(bytes.toString('latin1')), 'latin1').subarray(1, -1);
}

async function escapeInSteps(bytes: Buffer): Promise<Buffer> {
  const chunks: Buffer[] = [QUOTE];
  let length = 2 * QUOTE.length;
  for (let begin = 0; begin < bytes.length; begin += ESCAPE_STEP_BYTES) {
    // Before the first one, too: many may ask in one turn.
    await nextTurn();
    const chunk = escapeBytes(bytes.subarray(begin, begin + ESCAPE_STEP_BYTES));
    chunks.push(chunk);
    length += chunk.length;
  }
  chunks.push(QUOTE);
  const made = Buffer.allocUnsafeSlow(length);
  let offset = 0;
  let copied = 0;
  for (const chunk of chunks) {
    offset += chunk.copy(made, offset);
    if (offset - copied < COPY_STEP_BYTES) continue;
    copied = offset;
    await nextTurn();
  }
  return made;
}
