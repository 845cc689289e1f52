import { createDeploymentSecret } from '../../../../../src/capabilities/shared-cache/deployment-secret.ts';
import { createSharedSnapshots } from '../../../../../src/capabilities/shared-cache/shared-snapshots.ts';
import { Credential } from '../../../../../src/core/kernel/caller.ts';
import type { Events } from '../../../../../src/core/kernel/events.ts';
import { createSnapshotCache, type SnapshotCache } from '../../../../../src/core/reads/snapshots/cache.ts';
import type { Read } from '../../../../../src/core/reads/snapshots/load.ts';
import {
  NO_SNAPSHOT_STORE,
  type SnapshotStore,
  withCache,
} from '../../../../../src/core/reads/snapshots/with-cache.ts';
import type { MemoryConnection } from '../../../../support/fleet/memory-redis.ts';
import { createFakeLoader, type PendingLoad, roomy } from '../fake-loader.ts';

export const RESOURCES = ['projects', 'workflows', 'tools'];
export const STORED = ['workflows', 'tools'];
export const TTL = 60;
export const LIFETIME = { ttlMs: TTL, staleWhileRevalidateMs: 300, staleIfErrorMs: 3600, minRefreshMs: 5 };
export const LIMITS = { maxBytes: 12_000, maxEntries: 3 };

const SECRET = createDeploymentSecret(new Credential('the secret of all replicas of it'));

export interface ReplicaOptions {
  readonly now: () => number;
  /** Told of each load as it begins. */
  readonly onLoad: (pendingLoad: PendingLoad, resource: string) => void;
  /** @default it shares nothing */
  readonly connection?: MemoryConnection | undefined;
}

/** One Portico, as far as snapshots go: the layers as the gateway puts them together. */
export interface Replica {
  readonly cache: SnapshotCache;
  readonly sources: ReadonlyMap<string, Read>;
  /** Lookups and puts that have not ended. */
  readonly busy: number;
}

export function createReplica({ now, onLoad, connection }: ReplicaOptions): Replica {
  const cache = createSnapshotCache(LIMITS);
  let busy = 0;
  const count = (change: number) => {
    busy += change;
  };
  const store = connection === undefined ? NO_SNAPSHOT_STORE : createStore(connection, now, count);
  const sources = RESOURCES.map((resource) => {
    const fakeLoader = createFakeLoader(now);
    const source = withCache(
      (caller, signal, loadOptions) => {
        const loading = fakeLoader.load(caller, signal, loadOptions);
        const pendingLoad = fakeLoader.pendingLoads.at(-1);
        if (pendingLoad === undefined) throw new Error('nothing departed');
        onLoad(pendingLoad, resource);
        return loading;
      },
      {
        resource,
        siblings: RESOURCES,
        cache,
        secondLevel: {
          store,
          origin: 'https://platform',
          fingerprint: 'default',
          maxBytes: 100_000,
        },
        wrapLoad: (load) => load,
        lifetime: resource === 'projects' ? undefined : LIFETIME,
        waiting: roomy(),
        events: {},
        now,
      },
    );
    return [resource, source] as const;
  });
  return {
    cache,
    sources: new Map(sources),
    get busy() {
      return busy;
    },
  };
}

function createStore(connection: MemoryConnection, now: () => number, count: (change: number) => void): SnapshotStore {
  const events: Events = { sharedLooked: () => count(-1), sharedPut: () => count(-1) };
  const options = { redis: connection, secret: SECRET, prefix: 'p', channel: 'c', maxValueBytes: 100_000, events, now };
  const snapshots = createSharedSnapshots(options);
  connection.listen(snapshots);
  return {
    ...snapshots.store,
    wrapLoad(load, list) {
      const loading = snapshots.store.wrapLoad(async (...asked) => {
        const loaded = await load(...asked);
        count(1);
        return loaded;
      }, list);
      return (...asked) => {
        count(1);
        return loading(...asked);
      };
    },
  };
}
