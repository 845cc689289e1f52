import { promisify } from 'node:util';
import { zstdCompress, zstdDecompress } from 'node:zlib';
import type { Load } from '../../core/reads/snapshots/load.ts';
import { unpooledInSteps } from '../../core/reads/snapshots/snapshot.ts';
import { decrypt, encrypt } from './aes-gcm.ts';

/** What a sealed load is bound to: under anything else it does not open. */
export interface SealedFor {
  /** Name that it is stored under. */
  readonly name: string;
  readonly resource: string;
  /** Keyed hash of how the list is read and mapped, base64url. */
  readonly reading: string;
}

/** The header of a sealed load. It is authentic once the load is opened. */
export interface SealedLoad {
  /** When the load began, in milliseconds since the epoch. */
  readonly loadedAt: number;
  /** When it can be served no longer, in milliseconds since the epoch. */
  readonly expiresAt: number;
  /** Bytes of the content before compression. */
  readonly length: number;
  /** Prefix of {@link SealedFor.reading}. */
  readonly reading: Buffer;
  readonly bytes: Buffer;
}

/**
 * The header of a sealed load, with the offsets of its fields. The content follows, compressed and encrypted.
 *
 *     0  format   1  loadedAt   9  expiresAt   17  length   21  reading   29
 */
const FORMAT = 2;
const READING = 21;
const HEADER = 29;

const COUNT_BYTES = 4;

const compress = promisify(zstdCompress);
const decompress = promisify(zstdDecompress);

/** Returns the bytes of a load before compression. */
export function lengthOf(load: Load): number {
  const { bytes, itemStarts } = load.snapshot;
  return COUNT_BYTES + factsOf(load).length + itemStarts.length * COUNT_BYTES + bytes.length;
}

/**
 * Seals a load with AES-256-GCM: without the key only its length and times can be read, and nothing can be changed. It is
 * compressed on the thread pool.
 */
export async function seal(load: Load, key: Buffer, expiresAt: number, sealedFor: SealedFor): Promise<Buffer> {
  const content = await contentOf(load);
  const header = Buffer.alloc(HEADER);
  header.writeUInt8(FORMAT, 0);
  header.writeDoubleBE(load.snapshot.loadedAt, 1);
  header.writeDoubleBE(expiresAt, 9);
  header.writeUInt32BE(content.length, 17);
  header.set(tagOf(sealedFor.reading), READING);
  return Buffer.concat([header, encrypt(await compress(content), key, boundTo(header, sealedFor))]);
}

/** Parses the header of a stored value; `undefined` if the value is not a sealed load of this format. */
export function readSealed(bytes: Buffer): SealedLoad | undefined {
  if (bytes.length < HEADER || bytes.readUInt8(0) !== FORMAT) return undefined;
  return {
    loadedAt: bytes.readDoubleBE(1),
    expiresAt: bytes.readDoubleBE(9),
    length: bytes.readUInt32BE(17),
    reading: bytes.subarray(READING, HEADER),
    bytes,
  };
}

/** Whether the list was read and mapped in the same way, as far as the header says. */
export function isOfReading({ reading }: SealedLoad, { reading: expected }: SealedFor): boolean {
  return reading.equals(tagOf(expected));
}

/**
 * Opens a sealed load; `undefined` if the key is another, or the value or what it is bound to was altered. Nothing is decompressed
 * before it is authenticated.
 */
export async function unseal(
  { bytes, length }: SealedLoad,
  key: Buffer,
  sealedFor: SealedFor,
): Promise<Load | undefined> {
  const compressed = decrypt(bytes.subarray(HEADER), key, boundTo(bytes.subarray(0, HEADER), sealedFor));
  if (compressed === undefined) return undefined;
  try {
    return await loadIn(await decompress(compressed, { maxOutputLength: length }), bytes.readDoubleBE(1));
  } catch {
    return undefined;
  }
}

/** Returns the authenticated data beside the content. */
function boundTo(header: Buffer, { name, resource, reading }: SealedFor): Buffer {
  return Buffer.concat([header, Buffer.from(JSON.stringify([name, resource, reading]))]);
}

function tagOf(reading: string): Buffer {
  return Buffer.from(reading, 'base64url').subarray(0, HEADER - READING);
}

/** All of a load but the bytes of its list. */
type Facts = Pick<Load, 'pages' | 'excluded' | 'dropped' | 'upstreamEtag' | 'upstreamSaid'> & {
  readonly etag: string;
  readonly count: number;
};

function factsOf({ snapshot: { etag, count }, ...load }: Load): Buffer {
  const { pages, excluded, dropped, upstreamEtag, upstreamSaid } = load;
  const facts = { etag, count, pages, excluded, dropped, upstreamEtag, upstreamSaid };
  return Buffer.from(JSON.stringify(facts));
}

/** Returns the length of the facts, the facts, the distance from each item to the next one, and the list. */
function contentOf(load: Load): Promise<Buffer> {
  const { itemStarts, bytes } = load.snapshot;
  const facts = factsOf(load);
  const head = Buffer.alloc(COUNT_BYTES);
  head.writeUInt32LE(facts.length);
  const steps = Buffer.allocUnsafe(itemStarts.length * COUNT_BYTES);
  let before = 0;
  itemStarts.forEach((start, index) => {
    steps.writeUInt32LE(start - before, index * COUNT_BYTES);
    before = start;
  });
  return unpooledInSteps([head, facts, steps, bytes]);
}

async function loadIn(content: Buffer, loadedAt: number): Promise<Load> {
  const beginOfSteps = COUNT_BYTES + content.readUInt32LE(0);
  const { etag, count, ...facts }: Facts = JSON.parse(content.toString('utf8', COUNT_BYTES, beginOfSteps));
  const itemStarts = new Uint32Array(count);
  let start = 0;
  for (let index = 0; index < count; index += 1) {
    start += content.readUInt32LE(beginOfSteps + index * COUNT_BYTES);
    itemStarts[index] = start;
  }
  const bytes = await unpooledInSteps([content.subarray(beginOfSteps + count * COUNT_BYTES)]);
  const snapshot = Object.freeze({ bytes, etag, count, itemStarts, loadedAt, representations: Object.freeze({}) });
  return { snapshot, upstreamMs: 0, ...facts };
}
