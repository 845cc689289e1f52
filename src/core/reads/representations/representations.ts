import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { GatewayError } from '../../kernel/errors.ts';
import { nextTurn } from '../../kernel/event-loop.ts';
import { createMemorySemaphore } from '../../kernel/memory-semaphore.ts';
import type { SnapshotCache } from '../snapshots/cache.ts';
import type { Load } from '../snapshots/load.ts';
import { unpooledInSteps } from '../snapshots/snapshot.ts';

type Held = Pick<Load, 'snapshot' | 'cached'>;

/** Made on first use. Kept with a stored snapshot and charged, if there is room. */
export type Representations = ReturnType<typeof createRepresentations>;

/** Bounds of concurrent work. */
interface RepresentationsOptions {
  /** @default 2, which leaves half of the thread pool to others */
  readonly maxCompressions?: number;
  /** Bytes being escaped; one snapshot is always accepted. @default no bound */
  readonly maxEscapingBytes?: number;
}

export function createRepresentations(
  cache: SnapshotCache,
  { maxCompressions = 2, maxEscapingBytes = Number.POSITIVE_INFINITY }: RepresentationsOptions = {},
) {
  /** By the bytes of a list, which callers with the same reply share. */
  const known = new WeakMap<Buffer, Readonly<Record<string, Buffer>>>();
  const compressing = new Map<Buffer, Promise<Buffer>>();
  const escaping = new Map<Buffer, Promise<Buffer>>();
  const withinBytes = createMemorySemaphore({ maxBytes: maxEscapingBytes, maxAtOnce: Number.POSITIVE_INFINITY });

  async function escapeBytes(bytes: Buffer): Promise<Buffer> {
    if (bytes.length <= ESCAPE_STEP_BYTES) return escapeInSteps(bytes);
    const escaped = await withinBytes(bytes.length, () => escapeInSteps(bytes));
    if (escaped !== 'overloaded') return escaped;
    const detail = 'Too many long lists are being prepared already. Try again after Retry-After.';
    throw new GatewayError('overloaded', { detail, bound: 'mcp.maxEscapingBytes' });
  }

  function keep({ snapshot, cached }: Held, name: string, made: Buffer): Buffer {
    known.set(snapshot.bytes, { ...known.get(snapshot.bytes), [name]: made });
    if (cached !== undefined) cache.addRepresentation(cached.key, snapshot, name, made);
    return made;
  }

  function find(held: Held, name: string): Buffer | undefined {
    const { bytes, representations } = held.snapshot;
    const shared = representations[name] === undefined ? known.get(bytes)?.[name] : undefined;
    return shared === undefined ? representations[name] : keep(held, name, shared);
  }

  return {
    /** Compresses a list once; concurrent requests share the result. Returns `undefined` while `maxCompressions` others are. */
    gzipped(held: Held): Buffer | Promise<Buffer> | undefined {
      const made = find(held, 'gzip');
      if (made !== undefined) return made;
      const { bytes } = held.snapshot;
      if (!compressing.has(bytes) && compressing.size >= maxCompressions) return undefined;
      return makeOnce(compressing, bytes, compress).then((gzipped) => keep(held, 'gzip', gzipped));
    },
    /** A JSON string that ends a response to `resources/read`, up to its last brace. Rejects with `overloaded` beyond the bound. */
    async escaped(held: Held): Promise<Buffer> {
      const made = find(held, 'escaped');
      return made ?? keep(held, 'escaped', await makeOnce(escaping, held.snapshot.bytes, escapeBytes));
    },
  };
}

/** Concurrent requests for the same bytes share the result. */
function makeOnce(
  making: Map<Buffer, Promise<Buffer>>,
  bytes: Buffer,
  make: (bytes: Buffer) => Promise<Buffer>,
): Promise<Buffer> {
  const made = making.get(bytes) ?? make(bytes).finally(() => making.delete(bytes));
  making.set(bytes, made);
  return made;
}

const gzipBytes = promisify(gzip);

/** On the thread pool, which also resolves host names. */
async function compress(bytes: Buffer): Promise<Buffer> {
  return unpooledInSteps([await gzipBytes(bytes)]);
}

/** About a millisecond. */
const ESCAPE_STEP_BYTES = 262_144;

const BEGIN = Buffer.from('"');
/** End of a response to `resources/read`: each piece takes 3 % of a cached read to write. */
const END = Buffer.from('"}]}}');

/** Escaped characters are ASCII, so steps may start anywhere, and Latin-1 is fastest. */
async function escapeInSteps(bytes: Buffer): Promise<Buffer> {
  const chunks: Buffer[] = [BEGIN];
  for (let begin = 0; begin < bytes.length; begin += ESCAPE_STEP_BYTES) {
    // Many may start in one turn.
    if (bytes.length > ESCAPE_STEP_BYTES) await nextTurn();
    const text = bytes.toString('latin1', begin, begin + ESCAPE_STEP_BYTES);
    chunks.push(Buffer.from(JSON.stringify(text), 'latin1').subarray(1, -1));
  }
  chunks.push(END);
  return unpooledInSteps(chunks);
}
