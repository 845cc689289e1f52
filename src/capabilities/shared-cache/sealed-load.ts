import { promisify } from 'node:util';
import { zstdCompress, zstdDecompress } from 'node:zlib';
import type { Load } from '../../core/reads/snapshots/load.ts';
import { unpooledInSteps } from '../../core/reads/snapshots/snapshot.ts';
import { decrypt, encrypt } from './deployment-secret.ts';

const compress = promisify(zstdCompress);
const decompress = promisify(zstdDecompress);

/** Everything that is stored of a load, except the bytes of its list. */
interface Facts extends Pick<Load, 'pages' | 'excluded' | 'dropped' | 'upstreamEtag'> {
  /** Keyed hash of how the list is read and mapped. */
  readonly reading: string;
  readonly etag: string;
  /** When the load began, in milliseconds since the epoch. */
  readonly loadStartedAt: number;
  /** Distances from each item to the next one, which compress better than positions. */
  readonly steps: readonly number[];
}

const COUNT_BYTES = 4;

/** Seals a load with AES-256-GCM, bound to its name: without the key only its length can be read. Compresses on the thread pool. */
export async function seal(load: Load, reading: string, key: Buffer, name: string): Promise<Buffer> {
  const { bytes, itemStarts, etag, loadStartedAt } = load.snapshot;
  const { pages, excluded, dropped, upstreamEtag } = load;
  const steps = Array.from(itemStarts, (start, index) => start - (itemStarts[index - 1] ?? 0));
  const stored: Facts = {
    reading,
    etag,
    loadStartedAt,
    steps,
    pages,
    excluded,
    dropped,
    ...(upstreamEtag !== undefined && { upstreamEtag }),
  };
  const facts = Buffer.from(JSON.stringify(stored));
  const count = Buffer.alloc(COUNT_BYTES);
  count.writeUInt32LE(facts.length);
  return encrypt(await compress(await unpooledInSteps([count, facts, bytes])), key, name);
}

/**
 * Opens a sealed load of this reading. `altered`: no replica has stored it under this name; `undefined`: the list was read in
 * another way. Nothing is decompressed before it is authenticated, nor beyond `maxBytes`.
 */
export async function unseal(
  sealed: Buffer,
  reading: string,
  key: Buffer,
  name: string,
  maxBytes: number,
): Promise<Load | 'altered' | undefined> {
  const compressed = decrypt(sealed, key, name);
  if (compressed === undefined) return 'altered';
  const content = await decompress(compressed, { maxOutputLength: maxBytes }).catch(() => undefined);
  if (content === undefined) return 'altered';
  const endOfFacts = COUNT_BYTES + content.readUInt32LE(0);
  const {
    reading: found,
    steps,
    etag,
    loadStartedAt,
    ...facts
  }: Facts = JSON.parse(content.toString('utf8', COUNT_BYTES, endOfFacts));
  if (found !== reading) return undefined;
  let start = 0;
  const itemStarts = Uint32Array.from(steps, (step) => {
    start += step;
    return start;
  });
  const bytes = await unpooledInSteps([content.subarray(endOfFacts)]);
  const representations = Object.freeze({});
  const snapshot = Object.freeze({ bytes, etag, count: steps.length, itemStarts, loadStartedAt, representations });
  return { snapshot, upstreamMs: 0, ...facts };
}
