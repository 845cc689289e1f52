import { createHash } from 'node:crypto';
import { nextTurn } from '../../kernel/event-loop.ts';

/** Immutable. */
export interface Snapshot {
  /** UTF-8, without a coding. */
  readonly bytes: Buffer;
  /** Weak entity tag, equal for all codings (RFC 9110, section 8.8.3). */
  readonly etag: string;
  readonly count: number;
  /** Each item is followed by one comma, or the closing bracket. */
  readonly itemStarts: Uint32Array;
  /** Start of the load, in milliseconds since the epoch: the list is no older, so that its freshness is counted from here. */
  readonly loadStartedAt: number;
  /** When the upstream's reply had arrived, from which `Age` is counted. @default `loadStartedAt` */
  readonly receivedAt?: number;
  /** Representations by their names in `representations.ts`. */
  readonly representations: Readonly<Record<string, Buffer>>;
}

/** 1 to 4 ms. */
const COPY_STEP_BYTES = 4_194_304;

const NONE = Object.freeze({});
const OPEN = Buffer.from('[');
const COMMA = Buffer.from(',');
const CLOSE = Buffer.from(']');
const EMPTY = Buffer.from('[]');

export interface EncodedItems {
  /** Joined by one comma. */
  readonly bytes: Buffer;
  readonly starts: readonly number[];
}

/** Items with the same first field, by whose name behind `},{` they are found. Takes half the time of one `stringify` per item. */
export function encodeItems(items: readonly object[]): EncodedItems {
  const json = JSON.stringify(items);
  const bytes = Buffer.from(json);
  const [first] = Object.keys(items[0] ?? {});
  const border = first === undefined ? '},{' : `},{${JSON.stringify(first)}:`;
  // Places of the bytes, not of the characters.
  const text = bytes.length === json.length ? json : bytes.toString('latin1');
  const starts = items.length === 0 ? [] : [0];
  for (let at = text.indexOf(border); at !== -1; at = text.indexOf(border, at + border.length)) starts.push(at + 1);
  return { bytes: bytes.subarray(1, -1), starts };
}

/** Builds a snapshot. `loadStartedAt`: start of the load, in milliseconds since the epoch. */
export function createSnapshotWriter(loadStartedAt: number) {
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
      loadStartedAt,
      representations: NONE,
    });
  return {
    add(items: readonly object[] | EncodedItems): void {
      const added = 'bytes' in items ? items : encodeItems(items);
      if (added.starts.length === 0) return;
      write(starts.length === 0 ? OPEN : COMMA);
      for (const start of added.starts) starts.push(length + start);
      write(added.bytes);
    },
    finish(): Snapshot {
      end();
      return made(unpooled(chunks));
    },
    async finishInSteps(): Promise<Snapshot> {
      end();
      return made(await unpooledInSteps(chunks));
    },
  };
}

/** Size of a part that is parsed or searched in one turn of the event loop. */
const ARRAY_BYTES = 262_144;

/** The items in JSON arrays of about {@link ARRAY_BYTES}. */
export function* arraysOf({ bytes, itemStarts, count }: Snapshot): Generator<string> {
  const startOf = (index: number) => itemStarts[index] ?? bytes.length;
  let next = 0;
  while (next < count) {
    const begin = startOf(next);
    next += 1;
    while (next < count && startOf(next) - begin < ARRAY_BYTES) next += 1;
    // Each start follows a comma or a bracket.
    yield `[${bytes.toString('utf8', begin, startOf(next) - 1)}]`;
  }
}

/** Joins chunks in memory of their own: views of `Buffer.concat` and zlib would retain a larger one. */
export function unpooled(chunks: readonly Buffer[]): Buffer {
  const bytes = Buffer.allocUnsafeSlow(chunks.reduce((total, { length }) => total + length, 0));
  let offset = 0;
  for (const chunk of chunks) offset += chunk.copy(bytes, offset);
  return bytes;
}

/** The same in steps of one turn of the event loop. */
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
