import { type Caller, requestOf } from '../../kernel/caller.ts';
import { GatewayError } from '../../kernel/errors.ts';
import type { Events } from '../../kernel/events.ts';
import type { Snapshots } from './cache.ts';
import type { Loader } from './load.ts';
import type { StoreUse } from './snapshot-store.ts';

export interface EvictionsOptions {
  readonly resource: string;
  /** All resources of the same upstream, including this one. */
  readonly siblings: readonly string[];
  readonly cache: Snapshots;
  readonly secondLevel: Pick<StoreUse, 'store' | 'origin' | 'storedSiblings'>;
  readonly events: Events;
}

/**
 * Evicts what an upstream denies a caller: with a 401 all its resources, with a 403 this one. A rejected credential of
 * the deployment evicts nothing. The caller's loads in flight do not store.
 */
export function withEvictions(load: Loader, options: EvictionsOptions): Loader {
  const { resource, siblings, cache, secondLevel, events } = options;
  const { store, origin, storedSiblings } = secondLevel;

  function evict(names: readonly string[], caller: Caller, { code }: GatewayError): void {
    const stored = names.filter((name) => storedSiblings.includes(name));
    store.evict(origin, stored, caller);
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
