import { createDeploymentSecret } from '../../../../../src/capabilities/shared-cache/deployment-secret.ts';
import { createSharedSnapshots } from '../../../../../src/capabilities/shared-cache/shared-snapshots.ts';
import { Credential } from '../../../../../src/core/kernel/caller.ts';
import { createMemorySemaphore } from '../../../../../src/core/kernel/tables.ts';
import { createSnapshotCache, type SnapshotCache } from '../../../../../src/core/reads/snapshots/cache.ts';
import type { Read } from '../../../../../src/core/reads/snapshots/load.ts';
import {
  NO_SNAPSHOT_STORE,
  type SnapshotStore,
  withCache,
} from '../../../../../src/core/reads/snapshots/with-cache.ts';
import type { MemoryConnection } from '../../../../support/fleet/shared-store.ts';
import { createTower, type Departure, roomy } from '../departures.ts';

export const RESOURCES = ['projects', 'workflows', 'tools'];
export const STORED = ['workflows', 'tools'];
export const TTL = 60;
export const LIFETIME = { ttlMs: TTL, staleWhileRevalidateMs: 300, staleIfErrorMs: 3600, minRefreshMs: 5 };
export const LIMITS = { maxBytes: 12_000, maxEntries: 3 };

const SECRET = createDeploymentSecret(new Credential('the secret of all replicas of it'));

/** What replicas share. */
export interface Sharing {
  readonly connection: MemoryConnection;
  readonly leaseMs: number;
  readonly waitMs: number;
  /** Waits until the test has it go on. */
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>;
}

export interface ReplicaOptions {
  readonly now: () => number;
  /** Told of each load as it begins. */
  readonly onDeparture: (departure: Departure, resource: string) => void;
  readonly sharing?: Sharing | undefined;
}

/** One Portico, as far as snapshots go: the layers as the gateway puts them together. */
export interface Replica {
  readonly cache: SnapshotCache;
  readonly sources: ReadonlyMap<string, Read>;
  /** Values that are being sealed and opened, and puts that have not ended. */
  readonly busy: number;
}

export function createReplica({ now, onDeparture, sharing }: ReplicaOptions): Replica {
  const cache = createSnapshotCache(LIMITS);
  let busy = 0;
  const count = (change: number) => {
    busy += change;
  };
  const store = sharing === undefined ? NO_SNAPSHOT_STORE : createStore(sharing, now, count);
  const sources = RESOURCES.map((resource) => {
    const tower = createTower(now);
    const source = withCache(
      (caller, signal, loadOptions) => {
        const loading = tower.load(caller, signal, loadOptions);
        const departure = tower.departures.at(-1);
        if (departure === undefined) throw new Error('nothing departed');
        onDeparture(departure, resource);
        return loading;
      },
      {
        resource,
        siblings: RESOURCES,
        cache,
        secondLevel: {
          store,
          origin: 'https://platform',
          storedSiblings: STORED,
          reading: 'default',
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

function createStore(sharing: Sharing, now: () => number, count: (change: number) => void): SnapshotStore {
  const { connection, leaseMs, waitMs, sleep } = sharing;
  const semaphore = createMemorySemaphore({ maxBytes: 67_108_864, maxAtOnce: 2 });
  return createSharedSnapshots({
    ...{ store: connection, announcements: connection, secrets: [SECRET], leaseMs, waitMs, sleep, now, clock: now },
    ...{ maxValueBytes: 100_000, maxEntries: 100, events: {} },
    async semaphore(bytes, work) {
      count(1);
      try {
        return await semaphore(bytes, work);
      } finally {
        count(-1);
      }
    },
  });
}
