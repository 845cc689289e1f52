import type { Caller } from '../../core/kernel/caller.ts';
import type { SharedPut } from '../../core/kernel/events.ts';
import type { MemorySemaphore } from '../../core/kernel/tables.ts';
import type { Load } from '../../core/reads/snapshots/load.ts';
import type { StoredResource } from '../../core/reads/snapshots/with-cache.ts';
import type { Lifetime } from '../../core/reads/snapshots/with-snapshots.ts';
import type { DeploymentSecret } from './deployment-secret.ts';
import type { EvictionIndex } from './eviction-index.ts';
import type { Lease, RedisStore } from './redis-store.ts';
import { isOfReading, lengthOf, readSealed, type SealedFor, type SealedLoad, seal, unseal } from './sealed-load.ts';

export interface CopiesOptions {
  readonly store: RedisStore;
  /** The current secret, which seals; and previous ones, under which copies are found and evicted, too. */
  readonly secrets: readonly [DeploymentSecret, ...DeploymentSecret[]];
  readonly evictions: Pick<EvictionIndex, 'isCurrent'>;
  readonly semaphore: MemorySemaphore;
  readonly maxValueBytes: number;
  readonly now: () => number;
}

/** The copies of one resource that replicas have stored for one caller. */
export type CallerCopies = ReturnType<ReturnType<typeof openCopies>>;

export interface Copy {
  /** When it was loaded, by the clock of this process. */
  readonly loadedAt: number;
  /** Opens the load. `undefined`: it was evicted in the meantime, or too much is being opened. */
  open(): Promise<Load | 'altered' | undefined>;
}

/** Tolerated difference between the clocks of two replicas: what was loaded up to that far in the future was loaded now. */
const MAX_CLOCK_SKEW_MS = 1000;

/** The text that copies are named by, beside the caller. */
export function copyOf(origin: string, resource: string): string {
  return JSON.stringify([origin, resource]);
}

/** Each caller has copies of its own, whatever its cache scope: what the upstream returned to it, sealed under a key of its token. */
export function openCopies(options: CopiesOptions, stored: StoredResource) {
  const { store, secrets, evictions, semaphore, maxValueBytes, now } = options;
  const { resource, origin, lifetime, maxBytes } = stored;
  const what = copyOf(origin, resource);
  const readings = secrets.map((secret) => ({ secret, reading: secret.keyOf(stored.reading) }));

  return (caller: Caller) => {
    const places = readings.map(({ secret, reading }) => ({
      secret,
      sealedFor: { name: secret.nameOf(what, caller), resource, reading },
    }));
    const [current] = places as [(typeof places)[0], ...typeof places];
    const { name } = current.sealedFor;
    const names = places.map(({ sealedFor }) => sealedFor.name);
    const isCurrent = (loadedAt: number) => names.every((each) => evictions.isCurrent(each, loadedAt));

    function copyIn(sealed: SealedLoad, secret: DeploymentSecret, sealedFor: SealedFor): Copy | undefined {
      const loadedAt = Math.min(sealed.loadedAt, now());
      const expiresAt = Math.min(sealed.expiresAt, caller.expiresAt ?? Number.POSITIVE_INFINITY);
      const isUsable = sealed.loadedAt <= now() + MAX_CLOCK_SKEW_MS && expiresAt > now();
      if (!isUsable || !isCurrent(sealed.loadedAt)) return undefined;
      return {
        loadedAt,
        async open() {
          const bytes = sealed.bytes.length + sealed.length;
          const load = await semaphore(bytes, () => unseal(sealed, secret.sealingKeyOf(caller), sealedFor));
          if (load === undefined) return 'altered';
          if (load === 'overloaded' || !isCurrent(sealed.loadedAt)) return undefined;
          return { ...load, snapshot: Object.freeze({ ...load.snapshot, loadStartedAt: loadedAt }) };
        },
      };
    }

    async function sealAndPut(load: Load, lease: Lease): Promise<SharedPut['outcome']> {
      const { loadStartedAt: loadedAt } = load.snapshot;
      const expiresAt = endOf(loadedAt, lifetime, caller.expiresAt);
      const length = lengthOf(load);
      if (length > maxBytes) return 'too_large';
      const { secret, sealedFor } = current;
      const sealed = await semaphore(2 * length, () => seal(load, secret.sealingKeyOf(caller), expiresAt, sealedFor));
      if (sealed === 'overloaded') return sealed;
      if (sealed.length > maxValueBytes) return 'too_large';
      const ttlMs = Math.floor(expiresAt - now());
      if (ttlMs <= 0 || !isCurrent(loadedAt)) return 'refused';
      return (await store.put(name, sealed, { lease, ttlMs })) ? 'stored' : 'refused';
    }

    return {
      name,
      /** Names that are looked up: one for each secret. */
      names,
      /** `undefined`: Redis is down. `isAltered`: a value was found that no replica has stored. */
      async find(): Promise<{ readonly copy: Copy | undefined; readonly isAltered: boolean } | undefined> {
        let isAltered = false;
        for (const { secret, sealedFor } of places) {
          const found = await store.get(sealedFor.name);
          if (found === undefined) return undefined;
          if (found.value === undefined) continue;
          const sealed = found.value.length > maxValueBytes ? undefined : readSealed(found.value);
          if (sealed === undefined || sealed.length > maxBytes) isAltered = true;
          else if (isOfReading(sealed, sealedFor)) {
            const copy = copyIn(sealed, secret, sealedFor);
            if (copy !== undefined) return { copy, isAltered };
          }
        }
        return { copy: undefined, isAltered };
      },
      lease: (ms: number) => store.lease(name, ms),
      release: (lease: Lease) => store.release(name, lease),
      /** Stores a load, and ends the lease in any case. */
      async put(load: Load, lease: Lease): Promise<SharedPut['outcome']> {
        let outcome: SharedPut['outcome'] | undefined;
        try {
          outcome = await sealAndPut(load, lease);
          return outcome;
        } finally {
          if (outcome !== 'stored') await store.release(name, lease);
        }
      },
    };
  };
}

/** When a load can be served no longer, in milliseconds since the epoch. */
export function endOf(loadedAt: number, lifetime: Lifetime, expiresAt = Number.POSITIVE_INFINITY): number {
  const { ttlMs, staleWhileRevalidateMs, staleIfErrorMs } = lifetime;
  return Math.min(loadedAt + ttlMs + Math.max(staleWhileRevalidateMs, staleIfErrorMs), expiresAt);
}
