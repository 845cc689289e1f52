import { GatewayError } from '../kernel/errors.ts';
import type { Events } from '../observability/events.ts';
import type { SnapshotCache } from './cache.ts';
import type { Loader } from './load.ts';
import { snapshotKey } from './snapshot-key.ts';

export interface EvictionsOptions {
  readonly resource: string;
  /** Every resource that comes from the same upstream, this one included. */
  readonly siblings: readonly string[];
  readonly cache: SnapshotCache;
  readonly events: Events;
}

/**
 * Lets go of what an upstream no longer shows a partition: with a 401 everything of that upstream, with a 403 this
 * resource. Loads that are under way then store nothing.
 */
export function withEvictions(load: Loader, { resource, siblings, cache, events }: EvictionsOptions): Loader {
  return async (caller, signal, options) => {
    try {
      return await load(caller, signal, options);
    } catch (error) {
      for (const name of denied(error, resource, siblings)) {
        cache.evict(snapshotKey(name, caller.partition));
        events.snapshotEvicted?.({ resource: name, code: (error as GatewayError).code });
      }
      throw error;
    }
  };
}

function denied(error: unknown, resource: string, siblings: readonly string[]): readonly string[] {
  switch (error instanceof GatewayError ? error.code : undefined) {
    case 'credential_rejected':
    // The credential was Portico's own, for all that it reads there.
    case 'upstream_credential_rejected':
      return siblings;
    case 'access_denied':
      return [resource];
    default:
      return [];
  }
}
