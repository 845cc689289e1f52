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
  readonly itemStarts: readonly number[];
}

const NEWLINE = 10;

/** Seals a load with AES-256-GCM, bound to its name: without the key only its length can be read. Compresses on the thread pool. */
export async function seal(load: Load, reading: string, key: Buffer, name: string): Promise<Buffer> {
  const { bytes, itemStarts, etag, loadStartedAt } = load.snapshot;
  const { pages, excluded, dropped, upstreamEtag } = load;
  const facts = { reading, etag, loadStartedAt, itemStarts: [...itemStarts], pages, excluded, dropped, upstreamEtag };
  const content = await unpooledInSteps([Buffer.from(`${JSON.stringify(facts)}\n`), bytes]);
  return encrypt(await compress(content), key, name);
}

/**
 * Opens a sealed load of this reading. `altered`: no replica has stored it under this name; `miss`: the list was read in
 * another way. Nothing is decompressed before it is authenticated, nor beyond `maxBytes`.
 */
export async function unseal(
  sealed: Buffer,
  expected: string,
  key: Buffer,
  name: string,
  maxBytes: number,
): Promise<Load | 'altered' | 'miss'> {
  const compressed = decrypt(sealed, key, name);
  if (compressed === undefined) return 'altered';
  const content = await decompress(compressed, { maxOutputLength: maxBytes }).catch(() => undefined);
  if (content === undefined) return 'altered';
  const end = content.indexOf(NEWLINE);
  const {
    reading,
    itemStarts: starts,
    etag,
    loadStartedAt,
    ...facts
  }: Facts = JSON.parse(content.toString('utf8', 0, end));
  if (reading !== expected) return 'miss';
  const itemStarts = Uint32Array.from(starts);
  const bytes = await unpooledInSteps([content.subarray(end + 1)]);
  const representations = Object.freeze({});
  const snapshot = Object.freeze({ bytes, etag, count: starts.length, itemStarts, loadStartedAt, representations });
  return { snapshot, upstreamMs: 0, ...facts };
}
