import type { Connection } from './connection.ts';
import type { EvictedListener, Evictions } from './evictions.ts';
import type { Naming } from './names.ts';
import { newWord } from './new-word.ts';
import { LEASE, LOOK, PUT, RELEASE } from './scripts.ts';

export interface StoreOptions {
  readonly connection: Pick<Connection, 'ask'>;
  readonly naming: Naming;
  readonly evictions: Evictions;
  /** Largest value that is put, and that is taken. */
  readonly maxValueBytes: number;
}

/** What the shared level of the snapshot cache asks of a store; its contract stands there. */
export interface Store {
  look(name: string): Promise<{ readonly held: Buffer | undefined; readonly generation: string } | undefined>;
  lease(name: string, ms: number): Promise<{ readonly token: string } | 'other' | undefined>;
  put(
    name: string,
    bytes: Buffer,
    options: { readonly generation: string; readonly lease?: string | undefined; readonly ttlMs: number },
  ): Promise<boolean>;
  release(name: string, lease: string): Promise<void>;
  evict(names: readonly string[]): Promise<void>;
  onEvicted(listener: EvictedListener): () => void;
}

/** A history, a life and a generation are 75 bytes. */
const MAX_GENERATION_BYTES = 128;

/** The store in Redis. Whatever Redis does, it answers in time, and nothing of it is thrown. */
export function createStore({ connection, naming, evictions, maxValueBytes }: StoreOptions): Store {
  async function release(name: string, lease: string): Promise<void> {
    await connection.ask({ script: RELEASE, keys: [naming.keysOf(name).lease], args: [lease] });
  }

  return {
    async look(name) {
      const { life, value, generation } = naming.keysOf(name);
      const args = [newWord(), generation, maxValueBytes];
      const answer = await connection.ask({ script: LOOK, keys: [life, value], args });
      if (answer.said !== 'ok') return undefined;
      const [now, held] = answer.more;
      // It is kept for as long as a load takes.
      if (!Buffer.isBuffer(now) || now.length > MAX_GENERATION_BYTES) return undefined;
      return { held: Buffer.isBuffer(held) ? held : undefined, generation: now.toString() };
    },
    async lease(name, ms) {
      const token = newWord();
      const answer = await connection.ask({ script: LEASE, keys: [naming.keysOf(name).lease], args: [token, ms] });
      if (answer.said === 'ok') return { token };
      // It may have been given all the same.
      if (answer.said === 'timeout') void release(name, token);
      return answer.said === 'refused' ? 'other' : undefined;
    },
    async put(name, bytes, { generation: from, lease = '', ttlMs }) {
      const { life, value, generation, lease: leased } = naming.keysOf(name);
      if (bytes.length > maxValueBytes) return false;
      const args = [newWord(), generation, from, lease, ttlMs, bytes];
      const { said } = await connection.ask({ script: PUT, keys: [life, value, leased], args });
      return said === 'ok';
    },
    release,
    evict: evictions.evict,
    onEvicted: evictions.onEvicted,
  };
}
