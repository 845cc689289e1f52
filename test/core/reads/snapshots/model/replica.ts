import { createDeploymentSecret } from '../../../../../src/capabilities/shared-cache/deployment-secret.ts';
import { createSharedSnapshots } from '../../../../../src/capabilities/shared-cache/shared-snapshots.ts';
import { Credential } from '../../../../../src/core/kernel/caller.ts';
import type { Events } from '../../../../../src/core/kernel/events.ts';
import type { SnapshotStore } from '../../../../../src/core/reads/snapshots/with-cache.ts';
import type { MemoryConnection } from '../../../../support/fleet/memory-redis.ts';
import type { PendingLoad } from '../fake-loader.ts';
import { createReplica } from '../replica.ts';

export const STORED = ['workflows', 'tools'];
export const TTL = 60;
export const LIFETIME = { ttlMs: TTL, staleWhileRevalidateMs: 300, staleIfErrorMs: 3600, minRefreshMs: 5 };
export const LIMITS = { maxBytes: 12_000, maxEntries: 3 };

const SECRET = createDeploymentSecret(new Credential('the secret of all replicas of it'));

export type ModelReplica = ReturnType<typeof createModelReplica>;

/** A replica with little room and short lifetimes. `connection`: what it shares snapshots over, if it does. */
export function createModelReplica(
  now: () => number,
  onLoad: (pendingLoad: PendingLoad, resource: string) => void,
  connection?: MemoryConnection,
) {
  let busy = 0;
  const count = (change: number) => {
    busy += change;
  };
  const shared = connection && { store: createStore(connection, now, count) };
  return {
    ...createReplica({ now, onLoad, bounds: LIMITS, lifetime: LIFETIME, ...shared }),
    /** Lookups and puts that have not ended. */
    isBusy: () => busy > 0,
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
