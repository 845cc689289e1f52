import { type Fleet, type FleetOptions, joinFleet } from '../../../src/capabilities/shared-cache/redis/fleet.ts';
import type { Events } from '../../../src/core/kernel/events.ts';
import { onCleanup } from '../cleanup.ts';
import { eventually } from '../eventually.ts';

/** Joins as one more replica. With room in time for a machine that has much else to do. It leaves with the test. */
export function join(url: string, options: Partial<FleetOptions> = {}): Fleet {
  const fleet = joinFleet({
    ...{ url, cluster: false, prefix: 'portico', timeoutMs: 10_000, connectTimeoutMs: 10_000 },
    ...{ maxInFlight: 1000, maxInFlightBytes: 16_777_216, maxValueBytes: 1_048_576 },
    user: async () => ({}),
    events: {},
    ...options,
  });
  fleet.open();
  onCleanup(fleet.close);
  return fleet;
}

/** The same, once it is there. */
export async function joined(url: string, options: Partial<FleetOptions> = {}): Promise<Fleet> {
  const fleet = join(url, options);
  await eventually(() => fleet.isUp);
  return fleet;
}

/** What is told of the store. */
interface StoreLog {
  readonly events: Events;
  readonly changes: string[];
  /** Words for what was wrong, where there were any. */
  readonly errors: string[];
  readonly heard: unknown[];
}

/** Listens to what is told of the store. */
export function storeLog(): StoreLog {
  const changes: string[] = [];
  const errors: string[] = [];
  const heard: unknown[] = [];
  return {
    changes,
    errors,
    heard,
    events: {
      sharedStoreChanged({ isUp, why, error }) {
        changes.push(isUp ? 'up' : `${why}`);
        if (error !== undefined) errors.push(error);
      },
      sharedEvictionsHeard: ({ names }) => heard.push(names ?? 'unknown'),
    },
  };
}
