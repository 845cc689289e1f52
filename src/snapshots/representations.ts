import { promisify } from 'node:util';
import { gzip, zstdCompress } from 'node:zlib';
import { GatewayError } from '../kernel/errors.ts';
import { nextTurn } from '../kernel/turns.ts';
import type { SnapshotCache } from './cache.ts';
import type { Load } from './load.ts';
import { unpooled } from './snapshot.ts';

/** A content coding that snapshots are sent in (RFC 9110, section 8.4.1; zstd is RFC 8878). */
export type Coding = 'zstd' | 'gzip';

/** A load's snapshot, and where it is held. */
type Held = Pick<Load, 'snapshot' | 'cached'>;

/**
 * What is made of the bytes of a snapshot: once, as soon as somebody asks for it. It is kept with the snapshot where that
 * is held, and charged for; where there is no room it is made and forgotten.
 */
export interface Representations {
  /**
   * The bytes in a coding, at once where they were made before. Else made on the thread pool; readers who ask meanwhile
   * wait for the same ones.
   */
  encoded(held: Held, coding: Coding): Buffer | Promise<Buffer>;
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

/** Bytes that are escaped, and bytes that are copied, in one turn of the event loop: each takes about a millisecond. */
const ESCAPE_STEP_BYTES = 262_144;
const COPY_STEP_BYTES = 4_194_304;

const QUOTE = Buffer.from('"');

export interface RepresentationsOptions {
  /** Bytes of long snapshots that are being escaped at a time. One is always taken on, however long. @default no bound */
  readonly maxEscapingBytes?: number;
}

const coders = { zstd: promisify(zstdCompress), gzip: promisify(gzip) } as const;

export function createRepresentations(
  cache: SnapshotCache,
  { maxEscapingBytes = Number.POSITIVE_INFINITY }: RepresentationsOptions = {},
): Representations {
  const underWay: Record<Coding, WeakMap<Buffer, Promise<Buffer>>> = { zstd: new WeakMap(), gzip: new WeakMap() };
  // Serves snapshots that are not held, too, for as long as some reader has the escaped bytes in hand.
  const escapes = new WeakMap<Buffer, WeakRef<Buffer>>();
  const escaping = new Map<Buffer, Promise<Buffer>>();
  let bytesEscaping = 0;

  function keep({ snapshot, cached }: Held, name: string, made: Buffer, atMost?: number): Buffer {
    if (cached !== undefined) cache.addRepresentation(cached.key, snapshot, name, made, atMost);
    return made;
  }

  async function encode(held: Held, coding: Coding): Promise<Buffer> {
    const { bytes } = held.snapshot;
    const making = underWay[coding].get(bytes);
    if (making !== undefined) return making;
    const made = coders[coding](bytes).then((coded) => unpooled([coded]));
    underWay[coding].set(bytes, made);
    try {
      return keep(held, coding, await made);
    } finally {
      underWay[coding].delete(bytes);
    }
  }

  async function escapeLong(bytes: Buffer): Promise<Buffer> {
    bytesEscaping += bytes.length;
    try {
      const made = await escapeInSteps(bytes);
      escapes.set(bytes, new WeakRef(made));
      return made;
    } finally {
      bytesEscaping -= bytes.length;
      escaping.delete(bytes);
    }
  }

  /** Shares what is made for another. What nobody makes yet is taken on where there is room. */
  function shareEscape(bytes: Buffer): Promise<Buffer> {
    const known = escaping.get(bytes);
    if (known !== undefined) return known;
    if (bytesEscaping > 0 && bytesEscaping + bytes.length > maxEscapingBytes) {
      const detail = 'Too many long lists are being prepared already. Try again after Retry-After.';
      throw new GatewayError('overloaded', { detail });
    }
    const making = escapeLong(bytes);
    escaping.set(bytes, making);
    return making;
  }

  return {
    encoded: (held, coding) => held.snapshot.representations[coding] ?? encode(held, coding),
    escaped(held) {
      const { bytes, representations } = held.snapshot;
      const kept = representations['escaped'];
      if (kept !== undefined) return kept;
      const shared = escapes.get(bytes)?.deref();
      if (shared !== undefined) return keep(held, 'escaped', shared);
      if (bytes.length > ESCAPE_STEP_BYTES) return shareEscape(bytes).then((made) => keep(held, 'escaped', made));
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
