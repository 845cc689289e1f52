import { promisify } from 'node:util';
import { zstdCompress, zstdDecompress } from 'node:zlib';
import type { Load } from '../../core/reads/snapshots/load.ts';
import { unpooledInSteps } from '../../core/reads/snapshots/snapshot.ts';
import { decrypt, encrypt } from './deployment-secret.ts';

/** What a sealed load is bound to: under anything else it does not open. */
export interface SealedFor {
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
const FORMAT = 3;
const READING = 21;
const HEADER = 29;

const COUNT_BYTES = 4;

const compress = promisify(zstdCompress);
const decompress = promisify(zstdDecompress);

/** Returns the bytes of a load before compression. */
export function lengthOf(load: Load): number {
  return COUNT_BYTES + factsOf(load).length + load.snapshot.bytes.length;
}

/** Seals a load with AES-256-GCM: without the key only its length and times can be read. Compresses on the thread pool. */
export async function seal(load: Load, key: Buffer, expiresAt: number, sealedFor: SealedFor): Promise<Buffer> {
  const content = await contentOf(load);
  const header = Buffer.alloc(HEADER);
  header.writeUInt8(FORMAT, 0);
  header.writeDoubleBE(load.snapshot.loadStartedAt, 1);
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

/** Opens a sealed load; `undefined` if it was altered. Nothing is decompressed before it is authenticated. */
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

function boundTo(header: Buffer, { name, resource, reading }: SealedFor): Buffer {
  return Buffer.concat([header, Buffer.from(JSON.stringify([name, resource, reading]))]);
}

function tagOf(reading: string): Buffer {
  return Buffer.from(reading, 'base64url').subarray(0, HEADER - READING);
}

/** All of a load but the bytes of its list. */
type Facts = Pick<Load, 'pages' | 'excluded' | 'dropped' | 'upstreamEtag' | 'upstreamSaid'> & {
  readonly etag: string;
  /** Distances from each item to the next one, which compress better than positions. */
  readonly steps: readonly number[];
};

function factsOf({ snapshot: { etag, itemStarts }, ...load }: Load): Buffer {
  const { pages, excluded, dropped, upstreamEtag, upstreamSaid } = load;
  const steps = Array.from(itemStarts, (start, index) => start - (itemStarts[index - 1] ?? 0));
  const facts = { etag, steps, pages, excluded, dropped, upstreamEtag, upstreamSaid };
  return Buffer.from(JSON.stringify(facts));
}

/** Returns the length of the facts, the facts and the list. */
function contentOf(load: Load): Promise<Buffer> {
  const facts = factsOf(load);
  const head = Buffer.alloc(COUNT_BYTES);
  head.writeUInt32LE(facts.length);
  return unpooledInSteps([head, facts, load.snapshot.bytes]);
}

async function loadIn(content: Buffer, loadedAt: number): Promise<Load> {
  const endOfFacts = COUNT_BYTES + content.readUInt32LE(0);
  const { etag, steps, ...facts }: Facts = JSON.parse(content.toString('utf8', COUNT_BYTES, endOfFacts));
  let start = 0;
  const itemStarts = Uint32Array.from(steps, (step) => {
    start += step;
    return start;
  });
  const bytes = await unpooledInSteps([content.subarray(endOfFacts)]);
  const count = steps.length;
  const snapshot = Object.freeze({
    bytes,
    etag,
    count,
    itemStarts,
    loadStartedAt: loadedAt,
    representations: Object.freeze({}),
  });
  return { snapshot, upstreamMs: 0, ...facts };
}
