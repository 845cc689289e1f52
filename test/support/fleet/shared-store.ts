import { randomUUID } from 'node:crypto';
import type { EvictedListener, SharedStore } from '../../../src/capabilities/shared-cache/snapshots/store.ts';

interface Place {
  held?: { readonly bytes: Buffer; readonly until: number } | undefined;
  lease?: { readonly token: string; readonly until: number } | undefined;
  generation: string;
}

/** A store in the memory of the test, and all that may be wrong with it. */
export interface MemoryStore {
  /** The store as one more replica sees it. */
  connect(): MemoryConnection;
  /** What is held now, by name. */
  readonly held: ReadonlyMap<string, Buffer>;
  /** Has other bytes under a name, as somebody might who gets at the store. */
  tamper(name: string, bytes: Buffer): void;
  /** Forgets everything, the generations too. */
  flush(): void;
}

export interface MemoryConnection extends SharedStore {
  /** Calls so far, by method. */
  readonly calls: Readonly<Record<'look' | 'lease' | 'put' | 'release' | 'evict', number>>;
  /** From now on nothing gets through. */
  cut(): void;
  /** Everything gets through again. `missed`: evictions of others meanwhile may have been missed. */
  mend(options?: { readonly missed?: boolean }): void;
}

/** `now` gives milliseconds, of any clock. */
export function createMemoryStore(now: () => number): MemoryStore {
  const places = new Map<string, Place>();
  const listeners = new Map<MemoryConnection, Set<EvictedListener>>();
  let life = randomUUID();

  function placeOf(name: string): Place {
    const place = places.get(name) ?? { generation: life };
    places.set(name, place);
    if (place.held !== undefined && place.held.until <= now()) place.held = undefined;
    if (place.lease !== undefined && place.lease.until <= now()) place.lease = undefined;
    return place;
  }

  function tell(from: MemoryConnection | undefined, names: readonly string[] | 'unknown'): void {
    for (const [connection, heard] of listeners) if (connection !== from) for (const listener of heard) listener(names);
  }

  function connect(): MemoryConnection {
    const calls = { look: 0, lease: 0, put: 0, release: 0, evict: 0 };
    const own = new Set<EvictedListener>();
    let isCut = false;
    const late: (readonly string[])[] = [];
    const evictNow = (names: readonly string[]) => {
      for (const name of names) places.set(name, { generation: randomUUID() });
      tell(connection, names);
    };
    const connection: MemoryConnection = {
      calls,
      async look(name) {
        calls.look += 1;
        if (isCut) return undefined;
        const { held, generation } = placeOf(name);
        return { held: held?.bytes, generation };
      },
      async lease(name, ms) {
        calls.lease += 1;
        if (isCut) return undefined;
        const place = placeOf(name);
        if (place.lease !== undefined) return 'other';
        place.lease = { token: randomUUID(), until: now() + ms };
        return { token: place.lease.token };
      },
      async put(name, bytes, { generation, lease, ttlMs }) {
        calls.put += 1;
        if (isCut) return false;
        const place = placeOf(name);
        if (place.generation !== generation) return false;
        if (lease !== undefined && place.lease?.token !== lease) return false;
        place.held = { bytes: Buffer.from(bytes), until: now() + ttlMs };
        if (lease !== undefined) place.lease = undefined;
        return true;
      },
      async release(name, token) {
        calls.release += 1;
        const place = placeOf(name);
        if (!isCut && place.lease?.token === token) place.lease = undefined;
      },
      async evict(names) {
        calls.evict += 1;
        if (isCut) late.push(names);
        else evictNow(names);
      },
      onEvicted(listener) {
        // What is cut off hears nothing.
        const hear: EvictedListener = (names) => {
          if (!isCut) listener(names);
        };
        own.add(hear);
        return () => own.delete(hear);
      },
      cut() {
        isCut = true;
      },
      mend({ missed = true } = {}) {
        isCut = false;
        for (const names of late.splice(0)) evictNow(names);
        if (missed) for (const listener of own) listener('unknown');
      },
    };
    listeners.set(connection, own);
    return connection;
  }

  return {
    connect,
    get held() {
      const found = [...places.keys()].map((name) => [name, placeOf(name).held?.bytes] as const);
      return new Map(found.filter((entry): entry is readonly [string, Buffer] => entry[1] !== undefined));
    },
    tamper(name, bytes) {
      const place = placeOf(name);
      place.held = { bytes, until: place.held?.until ?? Number.POSITIVE_INFINITY };
    },
    flush() {
      places.clear();
      life = randomUUID();
      tell(undefined, 'unknown');
    },
  };
}
