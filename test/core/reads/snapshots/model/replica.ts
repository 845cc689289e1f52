import { createDeploymentSecret } from '../../../../../src/capabilities/shared-cache/deployment-secret.ts';
import { createSharedLevel, type SharedLevel } from '../../../../../src/capabilities/shared-cache/snapshots/level.ts';
import { Credential } from '../../../../../src/core/kernel/caller.ts';
import { createSnapshotCache, type SnapshotCache } from '../../../../../src/core/reads/snapshots/cache.ts';
import type { Read } from '../../../../../src/core/reads/snapshots/load.ts';
import { withCache } from '../../../../../src/core/reads/snapshots/with-cache.ts';
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
  const level =
    sharing &&
    createLevel(sharing, now, (change) => {
      busy += change;
    });
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
        shared: level && { level, origin: 'https://platform', stored: STORED, reading: 'as always', maxBytes: 100_000 },
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

function createLevel(sharing: Sharing, now: () => number, count: (change: number) => void): SharedLevel {
  const { connection, leaseMs, waitMs, sleep } = sharing;
  const level = createSharedLevel({
    ...{ store: connection, secrets: [SECRET], leaseMs, waitMs, sleep, now, clock: now },
    maxValueBytes: 100_000,
    maxNames: 100,
  });
  const inHand: SharedLevel['inHand'] = async (bytes, work) => {
    count(1);
    try {
      return await level.inHand(bytes, work);
    } finally {
      count(-1);
    }
  };
  return { ...level, inHand };
}
