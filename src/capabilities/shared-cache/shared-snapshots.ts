import { type Caller, requestOf } from '../../core/kernel/caller.ts';
import { stackOf } from '../../core/kernel/errors.ts';
import type { Events, SharedLooked, SharedPut } from '../../core/kernel/events.ts';
import { createSizedLru } from '../../core/kernel/lru.ts';
import { createMemorySemaphore } from '../../core/kernel/memory-semaphore.ts';
import type { Load } from '../../core/reads/snapshots/load.ts';
import type { SnapshotStore, StoredResource } from '../../core/reads/snapshots/with-cache.ts';
import { isRecent } from '../../core/reads/snapshots/with-snapshots.ts';
import type { DeploymentSecret } from './deployment-secret.ts';
import type { RedisConnection } from './redis-connection.ts';
import { seal, unseal } from './sealed-load.ts';

export interface SharedSnapshotsOptions {
  readonly redis: Pick<RedisConnection, 'run'>;
  readonly secret: DeploymentSecret;
  /** Prefix of all keys. */
  readonly prefix: string;
  readonly channel: string;
  readonly maxValueBytes: number;
  readonly events: Events;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/** What a replica publishes when a platform has denied lists to a caller. Keys are keyed hashes, the same on all replicas. */
interface Eviction {
  readonly from: string;
  readonly origin: string;
  readonly names: Readonly<Record<string, string>>;
  readonly credentialKey: string;
  readonly cacheScope: string;
}

const MAX_EVICTED = 10_000;
/** Lists that are sealed and opened: beyond, reads go on as if Redis had nothing. zlib has four threads. */
const MAX_SEALING = { maxBytes: 67_108_864, maxAtOnce: 4 };
/** Length of a list in lengths of its sealed form. */
const COMPRESSION = 10;
/** Names belong to one format of values, so that releases with different ones share nothing. */
const FORMAT = '5';

export type SharedSnapshots = ReturnType<typeof createSharedSnapshots>;

/** Lists that the replicas of a deployment share through Redis, each for the one caller that it was loaded for. */
export function createSharedSnapshots(options: SharedSnapshotsOptions) {
  const { redis, secret, prefix, channel, maxValueBytes, events, now } = options;
  const self = crypto.randomUUID();
  const lists = new Map<string, StoredResource>();
  /** Times of evictions by name: a list that was loaded before is neither taken nor stored. */
  const evictedAt = createSizedLru<string, Date>({ maxSize: MAX_EVICTED });
  const withinMemory = createMemorySemaphore(MAX_SEALING);

  const keyIn = (name: string) => `${prefix}:list:${name}`;
  const nameOf = (origin: string, resource: string, caller: Caller) =>
    secret.nameOf([FORMAT, origin, resource], caller);

  function isCurrent(name: string, loadStartedAt: number): boolean {
    return loadStartedAt > (evictedAt.get(name)?.getTime() ?? 0);
  }

  async function find(
    name: string,
    { fingerprint, maxBytes }: StoredResource,
    caller: Caller,
  ): Promise<Load | SharedLooked['outcome']> {
    // One byte more than allowed, to see whether it is longer.
    const value = await redis.run('get', ({ get }) => get(keyIn(name), maxValueBytes + 1));
    if (!Buffer.isBuffer(value)) return 'unavailable';
    if (value.length === 0) return 'miss';
    if (value.length > maxValueBytes) return 'altered';
    const found = await withinMemory(COMPRESSION * value.length, () =>
      unseal(value, secret.keyOf(fingerprint), secret.sealingKeyOf(caller), name, 2 * maxBytes),
    );
    if (typeof found === 'string') return found === 'altered' ? 'altered' : 'miss';
    const { loadStartedAt } = found.snapshot;
    const isOver = (caller.expiresAt ?? Number.POSITIVE_INFINITY) <= now();
    // By the clock of this replica, it may be from the future.
    return isOver || loadStartedAt > now() || !isCurrent(name, loadStartedAt) ? 'miss' : found;
  }

  async function put(
    name: string,
    { fingerprint, lifetime }: StoredResource,
    caller: Caller,
    load: Load,
  ): Promise<SharedPut['outcome']> {
    const { loadStartedAt } = load.snapshot;
    const { ttlMs, staleWhileRevalidateMs, staleIfErrorMs } = lifetime;
    const endsAt = loadStartedAt + ttlMs + Math.max(staleWhileRevalidateMs, staleIfErrorMs);
    const sealed = await withinMemory(2 * load.snapshot.bytes.length, () =>
      seal(load, secret.keyOf(fingerprint), secret.sealingKeyOf(caller), name),
    );
    if (sealed === 'overloaded') return 'overloaded';
    if (sealed.length > maxValueBytes) return 'too_large';
    const leftMs = Math.floor(Math.min(endsAt, caller.expiresAt ?? endsAt) - now());
    if (leftMs <= 0 || !isCurrent(name, loadStartedAt)) return 'refused';
    return (await redis.run('set', ({ set }) => set(keyIn(name), sealed, leftMs))) === undefined ? 'refused' : 'stored';
  }

  async function putAside(...[name, list, caller, load]: Parameters<typeof put>): Promise<void> {
    try {
      events.sharedPut?.({ resource: list.resource, outcome: await put(name, list, caller, load) });
    } catch (error) {
      events.internalError?.({ ...requestOf(caller), stack: stackOf(error) });
    }
  }

  /** Without Redis, other replicas keep their copies until these are no longer fresh. */
  async function send(eviction: Eviction): Promise<void> {
    for (const name of Object.values(eviction.names)) {
      void redis.run('delete', (commands) => commands.delete(keyIn(name)));
    }
    await redis.run('publish', ({ publish }) => publish(channel, secret.seal(JSON.stringify(eviction))));
  }

  const store: SnapshotStore = {
    wrapLoad(load, list) {
      const { resource, origin } = list;
      lists.set(resource, list);
      return async (caller, signal, asked = {}) => {
        const { maxAgeMs = 0, previous, keep } = asked;
        const name = nameOf(origin, resource, caller);
        const outcomeOf = (found: Load | SharedLooked['outcome']) => {
          if (typeof found === 'string') return found;
          return isRecent(found.snapshot.loadStartedAt, maxAgeMs, now()) ? 'hit' : 'stale';
        };
        const found = await find(name, list, caller);
        const outcome = outcomeOf(found);
        events.sharedLooked?.({ resource, outcome });
        signal.throwIfAborted();
        const copy = typeof found === 'string' ? undefined : found;
        if (copy !== undefined && outcome === 'hit') return { ...copy, fromSharedCache: true };
        // An older list may still be what the platform has, or be served if the platform fails.
        const isNewer = copy !== undefined && copy.snapshot.loadStartedAt > (previous?.snapshot.loadStartedAt ?? 0);
        if (isNewer) keep?.(copy);
        const loaded = await load(caller, signal, { previous: isNewer ? copy : previous });
        void putAside(name, list, caller, loaded);
        return loaded;
      };
    },
    evict(origin, resources, caller) {
      const stored = resources.filter((resource) => lists.has(resource));
      if (stored.length === 0) return;
      const names = Object.fromEntries(stored.map((resource) => [resource, nameOf(origin, resource, caller)]));
      for (const name of Object.values(names)) evictedAt.set(name, new Date(now()));
      void send({ from: self, origin, names, credentialKey: caller.credentialKey, cacheScope: caller.cacheScope });
    },
  };

  return {
    store,
    /** Drops what another replica has evicted. A message that no replica has sealed is ignored. */
    onMessage(message: string): void {
      const text = secret.open(message);
      if (text === undefined) return;
      const { from, origin, names, credentialKey, cacheScope }: Eviction = JSON.parse(text);
      if (from === self) return;
      for (const [resource, name] of Object.entries(names)) {
        evictedAt.set(name, new Date(now()));
        const list = lists.get(resource);
        if (list?.origin === origin) list.cache.evict(resource, { credentialKey, cacheScope });
      }
    },
  };
}
