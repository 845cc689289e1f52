import { randomUUID } from 'node:crypto';
import type { Announcements, Evicted } from '../../../src/capabilities/shared-cache/announcements.ts';
import type { Lease, RedisStore } from '../../../src/capabilities/shared-cache/redis-store.ts';

interface Place {
  value?: { readonly bytes: Buffer; readonly until: number } | undefined;
  lease?: { readonly token: Lease; readonly until: number } | undefined;
}

/** A store in the memory of the test, and everything that can be wrong with it. */
export interface MemoryStore {
  /** Returns the store as one more replica sees it. */
  connect(): MemoryConnection;
  readonly held: ReadonlyMap<string, Buffer>;
  tamper(name: string, bytes: Buffer): void;
  flush(): void;
}

export interface MemoryConnection extends RedisStore, Pick<Announcements, 'evict' | 'onEviction'> {
  readonly calls: Readonly<Record<'get' | 'lease' | 'put' | 'release' | 'evict', number>>;
  /** From now on nothing gets through. */
  cut(): void;
  /** Everything gets through again. `missed`: evictions of others may have been missed in the meantime. */
  mend(options?: { readonly missed?: boolean }): void;
}

/** `now` returns milliseconds, of any clock. */
export function createMemoryStore(now: () => number): MemoryStore {
  const places = new Map<string, Place>();
  const connections = new Map<MemoryConnection, ((evicted: Evicted) => void)[]>();

  function placeOf(name: string): Place {
    const place = places.get(name) ?? {};
    places.set(name, place);
    if (place.value !== undefined && place.value.until <= now()) place.value = undefined;
    if (place.lease !== undefined && place.lease.until <= now()) place.lease = undefined;
    return place;
  }

  function announce(from: MemoryConnection | undefined, evicted: Evicted): void {
    for (const [connection, listeners] of connections)
      if (connection !== from) for (const listener of listeners) listener(evicted);
  }

  function connect(): MemoryConnection {
    const calls = { get: 0, lease: 0, put: 0, release: 0, evict: 0 };
    const listeners: ((evicted: Evicted) => void)[] = [];
    const pending: (readonly string[])[] = [];
    let isCut = false;
    const evictNow = (names: readonly string[]) => {
      for (const name of names) places.delete(name);
      announce(connection, names);
    };
    const connection: MemoryConnection = {
      calls,
      async get(name) {
        calls.get += 1;
        return isCut ? undefined : { value: placeOf(name).value?.bytes };
      },
      async lease(name, ms) {
        calls.lease += 1;
        if (isCut) return undefined;
        const place = placeOf(name);
        if (place.lease !== undefined) return 'other';
        place.lease = { token: randomUUID() as string as Lease, until: now() + ms };
        return place.lease.token;
      },
      async put(name, bytes, { lease, ttlMs }) {
        calls.put += 1;
        const place = placeOf(name);
        if (isCut || place.lease?.token !== lease) return false;
        places.set(name, { value: { bytes: Buffer.from(bytes), until: now() + ttlMs } });
        return true;
      },
      async release(name, token) {
        calls.release += 1;
        const place = placeOf(name);
        if (!isCut && place.lease?.token === token) place.lease = undefined;
      },
      evict(names) {
        calls.evict += 1;
        if (isCut) pending.push(names);
        else evictNow(names);
      },
      onEviction(listener) {
        listeners.push((evicted) => {
          if (!isCut) listener(evicted);
        });
      },
      cut() {
        isCut = true;
      },
      mend({ missed = true } = {}) {
        isCut = false;
        for (const names of pending.splice(0)) evictNow(names);
        if (missed) for (const listener of listeners) listener('all');
      },
    };
    connections.set(connection, listeners);
    return connection;
  }

  return {
    connect,
    get held() {
      const found = [...places.keys()].map((name) => [name, placeOf(name).value?.bytes] as const);
      return new Map(found.filter((entry): entry is readonly [string, Buffer] => entry[1] !== undefined));
    },
    tamper(name, bytes) {
      const place = placeOf(name);
      place.value = { bytes, until: place.value?.until ?? Number.POSITIVE_INFINITY };
    },
    flush() {
      places.clear();
      announce(undefined, 'all');
    },
  };
}
