import type { SharedReading } from '../../../capabilities/shared-cache/snapshots/copies.ts';
import type { Caller } from '../../kernel/caller.ts';
import { GatewayError } from '../../kernel/errors.ts';
import type { Events } from '../../kernel/events.ts';
import { requestOf } from '../../kernel/trace.ts';
import type { SnapshotCache } from './cache.ts';
import type { Loader } from './load.ts';

export interface EvictionsOptions {
  readonly resource: string;
  /** All resources of the same upstream, including this one. */
  readonly siblings: readonly string[];
  readonly cache: SnapshotCache;
  /** Evicts on other replicas. @default no replicas */
  readonly shared?: Pick<SharedReading, 'level' | 'origin' | 'stored'> | undefined;
  readonly events: Events;
}

/**
 * Evicts what an upstream denies a caller: with a 401 all its resources, with a 403 this one. A rejected credential of
 * the deployment evicts nothing. The caller's loads in flight do not store.
 */
export function withEvictions(load: Loader, { resource, siblings, cache, shared, events }: EvictionsOptions): Loader {
  function evict(names: readonly string[], caller: Caller, { code }: GatewayError): void {
    shared?.level.evict(
      shared.origin,
      names.filter((name) => shared.stored.includes(name)),
      caller,
    );
    for (const name of names) {
      cache.evict(name, caller);
      events.snapshotEvicted?.({ ...requestOf(caller), resource: name, code });
    }
  }

  return async (caller, signal, options) => {
    try {
      return await load(caller, signal, options);
    } catch (error) {
      if (error instanceof GatewayError) {
        switch (error.code) {
          case 'credential_rejected':
            evict(siblings, caller, error);
            break;
          case 'access_denied':
            evict([resource], caller, error);
        }
      }
      throw error;
    }
  };
}
