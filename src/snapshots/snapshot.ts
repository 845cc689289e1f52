import { createHash } from 'node:crypto';

/** The JSON bytes of one resource as one caller's partition saw it. Immutable. */
export interface Snapshot {
  /** UTF-8, in no coding. */
  readonly bytes: Buffer;
  /** Weak entity tag, one for all codings (RFC 9110, section 8.8.3). */
  readonly etag: string;
  /** Items in the array. */
  readonly count: number;
  /** Where each item begins in `bytes`. One comma, or the bracket that ends the array, follows each item. */
  readonly itemStarts: Uint32Array;
  /** When the load began, in milliseconds since the epoch. */
  readonly loadedAt: number;
  /** What was made of the bytes, as far as somebody has asked for it: by the names of `representations.ts`. */
  readonly representations: Readonly<Record<string, Buffer>>;
}

const NONE = Object.freeze({});

/** Builds one snapshot, page by page, so that no single step holds the event loop long. */
export interface SnapshotWriter {
  add(items: readonly object[]): void;
  finish(): Snapshot;
}

/** `loadedAt` is when the load began, in milliseconds since the epoch. */
export function createSnapshotWriter(loadedAt: number): SnapshotWriter {
  const hash = createHash('sha256');
  const chunks: Buffer[] = [];
  const starts: number[] = [];
  let length = 0;
  const write = (text: string) => {
    const chunk = Buffer.from(text);
    hash.update(chunk);
    chunks.push(chunk);
  };
  return {
    add(items) {
      let text = '';
      for (const item of items) {
        const json = JSON.stringify(item);
        text += (starts.length === 0 ? '[' : ',') + json;
        starts.push(length + 1);
        length += 1 + Buffer.byteLength(json);
      }
      if (text !== '') write(text);
    },
    finish() {
      write(starts.length === 0 ? '[]' : ']');
      return Object.freeze({
        bytes: unpooled(chunks),
        etag: `W/"${hash.digest('base64url').slice(0, 22)}"`,
        count: starts.length,
        itemStarts: Uint32Array.from(starts),
        loadedAt,
        representations: NONE,
      });
    },
  };
}

/**
 * These chunks as one buffer with memory of its own. `Buffer.from` and `Buffer.concat` cut small ones from a shared
 * slab, and zlib gives views of larger chunks: whoever kept such a buffer would keep more than its length says.
 */
export function unpooled(chunks: readonly Buffer[]): Buffer {
  const bytes = Buffer.allocUnsafeSlow(chunks.reduce((total, { length }) => total + length, 0));
  let offset = 0;
  for (const chunk of chunks) offset += chunk.copy(bytes, offset);
  return bytes;
}
