import { createHash } from 'node:crypto';
import { nextTurn } from '../../kernel/turns.ts';

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

/** Bytes that are copied in one turn of the event loop: 1 to 4 ms. */
const COPY_STEP_BYTES = 4_194_304;

const NONE = Object.freeze({});
const [OPEN, COMMA, CLOSE, EMPTY] = ['[', ',', ']', '[]'].map((text) => Buffer.from(text)) as [
  Buffer,
  Buffer,
  Buffer,
  Buffer,
];

/** Builds one snapshot, page by page, so that no single step holds the event loop long. */
export interface SnapshotWriter {
  add(items: readonly object[] | EncodedItems): void;
  finish(): Snapshot;
  /** The same for a list that may be long, in as many turns of the event loop as it takes. */
  finishInSteps(): Promise<Snapshot>;
}

/** Some items as JSON. */
export interface EncodedItems {
  /** One comma stands between them. */
  readonly bytes: Buffer;
  /** Where each begins. */
  readonly starts: readonly number[];
}

export function encodeItems(items: readonly object[]): EncodedItems {
  const starts: number[] = [];
  let text = '';
  let length = 0;
  for (const item of items) {
    const json = JSON.stringify(item);
    text += (starts.length === 0 ? '' : ',') + json;
    starts.push(length);
    length += 1 + Buffer.byteLength(json);
  }
  return { bytes: Buffer.from(text), starts };
}

/** `loadedAt` is when the load began, in milliseconds since the epoch. */
export function createSnapshotWriter(loadedAt: number): SnapshotWriter {
  const hash = createHash('sha256');
  const chunks: Buffer[] = [];
  const starts: number[] = [];
  let length = 0;
  const write = (chunk: Buffer) => {
    hash.update(chunk);
    chunks.push(chunk);
    length += chunk.length;
  };
  const end = () => write(starts.length === 0 ? EMPTY : CLOSE);
  const made = (bytes: Buffer): Snapshot =>
    Object.freeze({
      bytes,
      etag: `W/"${hash.digest('base64url').slice(0, 22)}"`,
      count: starts.length,
      itemStarts: new Uint32Array(starts),
      loadedAt,
      representations: NONE,
    });
  return {
    add(items) {
      const added = 'bytes' in items ? items : encodeItems(items);
      if (added.starts.length === 0) return;
      write(starts.length === 0 ? OPEN : COMMA);
      for (const start of added.starts) starts.push(length + start);
      write(added.bytes);
    },
    finish() {
      end();
      return made(unpooled(chunks));
    },
    async finishInSteps() {
      end();
      return made(await unpooledInSteps(chunks));
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

/** The same, in steps between which others have their turn. */
export async function unpooledInSteps(chunks: readonly Buffer[]): Promise<Buffer> {
  const bytes = Buffer.allocUnsafeSlow(chunks.reduce((total, { length }) => total + length, 0));
  let offset = 0;
  let copied = 0;
  for (const chunk of chunks) {
    offset += chunk.copy(bytes, offset);
    if (offset - copied < COPY_STEP_BYTES) continue;
    copied = offset;
    await nextTurn();
  }
  return bytes;
}
