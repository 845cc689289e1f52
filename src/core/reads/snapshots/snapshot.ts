import { createHash, hash } from 'node:crypto';
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

/** The items of one page. */
export interface EncodedItems {
  /** A JSON array, in memory of its own. */
  readonly bytes: Buffer;
  readonly starts: readonly number[];
}

/** Items with the same first field, by whose name behind `},{` they are found. Takes half the time of one `stringify` per item. */
export function encodeItems(items: readonly object[]): EncodedItems {
  const json = JSON.stringify(items);
  const bytes = Buffer.allocUnsafeSlow(Buffer.byteLength(json));
  bytes.write(json);
  const [first] = Object.keys(items[0] ?? {});
  const border = first === undefined ? '},{' : `},{${JSON.stringify(first)}:`;
  // Places of the bytes, not of the characters.
  const text = bytes.length === json.length ? json : bytes.toString('latin1');
  const starts = items.length === 0 ? [] : [1];
  for (let at = text.indexOf(border); at !== -1; at = text.indexOf(border, at + border.length)) starts.push(at + 2);
  return { bytes, starts };
}

/** `loadStartedAt`: start of the load, in milliseconds since the epoch. */
export function createSnapshot({ bytes, starts }: EncodedItems, loadStartedAt: number): Snapshot {
  return snapshotOf(bytes, hash('sha256', bytes, 'base64url'), new Uint32Array(starts), loadStartedAt);
}

/** Joins pages to one snapshot, in steps of one turn of the event loop. Nearly all lists have one, whose bytes are used as they are. */
export async function joinPages(pages: readonly EncodedItems[], loadStartedAt: number): Promise<Snapshot> {
  const filled = pages.filter(({ starts }) => starts.length > 0);
  const [first = encodeItems([])] = filled;
  if (filled.length <= 1) return createSnapshot(first, loadStartedAt);
  const itemStarts = new Uint32Array(filled.reduce((count, { starts }) => count + starts.length, 0));
  const digest = createHash('sha256');
  const chunks: Buffer[] = [OPEN];
  let length = 0;
  let count = 0;
  for (const { bytes, starts } of filled) {
    for (const start of starts) itemStarts[count++] = length + start;
    // The closing bracket becomes a comma.
    length += bytes.length - 1;
    chunks.push(bytes.subarray(1, -1), COMMA);
  }
  chunks[chunks.length - 1] = CLOSE;
  const bytes = await unpooledInSteps(chunks, (copied) => digest.update(copied));
  return snapshotOf(bytes, digest.digest('base64url'), itemStarts, loadStartedAt);
}

function snapshotOf(bytes: Buffer, digest: string, itemStarts: Uint32Array, loadStartedAt: number): Snapshot {
  const etag = `W/"${digest.slice(0, 22)}"`;
  return Object.freeze({ bytes, etag, count: itemStarts.length, itemStarts, loadStartedAt, representations: NONE });
}

const OPEN = Buffer.from('[');
const COMMA = Buffer.from(',');
const CLOSE = Buffer.from(']');

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

/**
 * Joins chunks in memory of their own, in steps of one turn of the event loop: views of `Buffer.concat` and zlib would retain a larger
 * one. `onCopied` is called with the bytes of each step.
 */
export async function unpooledInSteps(chunks: readonly Buffer[], onCopied = (_bytes: Buffer) => {}): Promise<Buffer> {
  const bytes = Buffer.allocUnsafeSlow(chunks.reduce((total, { length }) => total + length, 0));
  let offset = 0;
  let copied = 0;
  for (const chunk of chunks) {
    offset += chunk.copy(bytes, offset);
    if (offset - copied < COPY_STEP_BYTES) continue;
    onCopied(bytes.subarray(copied, offset));
    copied = offset;
    await nextTurn();
  }
  onCopied(bytes.subarray(copied));
  return bytes;
}
