import type { Caller } from '../../../core/kernel/caller.ts';
import { stackOf } from '../../../core/kernel/causes.ts';
import type { Events } from '../../../core/kernel/events.ts';
import { requestOf } from '../../../core/kernel/trace.ts';
import type { SnapshotCache } from '../../../core/reads/snapshots/cache.ts';
import type { Lifetime } from '../../../core/reads/snapshots/lifetime.ts';
import type { Load, Loader } from '../../../core/reads/snapshots/load.ts';
import { during } from '../../tracing/during.ts';
import { approach } from './approach.ts';
import { type Copies, type Found, openCopies, type SharedReading } from './copies.ts';

export interface SharedOptions {
  readonly resource: string;
  readonly cache: SnapshotCache;
  readonly lifetime: Lifetime;
  readonly shared: SharedReading;
  readonly events: Events;
}

/**
 * Takes what another replica has loaded for this very caller, where that is recent enough, and else has one replica load at a
 * time. What a load brings is put behind the reader's back. Where the second level cannot be asked, it is as if there were none.
 */
export function withShared(load: Loader, options: SharedOptions): Loader {
  const { resource, cache, lifetime, shared, events } = options;
  const { level } = shared;
  const copiesOf = openCopies({ ...shared, resource, lifetime });

  /** A copy that is not recent may yet be what the upstream still has, or be served where the upstream fails. */
  async function olderCopy(found: Found | undefined, newerThan: number): Promise<Load | undefined> {
    const copy = found?.copy;
    if (copy === undefined || copy.loadedAt <= newerThan) return undefined;
    const opened = await copy.open();
    return opened === 'altered' ? undefined : opened;
  }

  async function put(copies: Copies, caller: Caller, ...[loaded, at]: Parameters<Copies['put']>): Promise<void> {
    try {
      const outcome = await copies.put(loaded, at);
      events.sharedPut?.({ resource, outcome });
    } catch (error) {
      events.internalError?.({ ...requestOf(caller), stack: stackOf(error) });
    }
  }

  async function takeOrLoad(copies: Copies, ...[caller, signal, options = {}]: Parameters<Loader>): Promise<Load> {
    const { known, keep, maxAgeMs = 0, isRefresh = false } = options;
    if (level.tooLong.has(copies.name)) return load(caller, signal, { known });
    // Nobody waits behind a refresh, and whoever has the lease has just begun one.
    const patienceMs = isRefresh ? level.leaseMs : level.patience.take();
    const { outcome, taken, found, lease, waited } = await during(
      caller.span?.begin('look', { resource }),
      signal,
      () => approach(copies, signal, { level, maxAgeMs, patienceMs }),
      (approached) => ({ shared: approached.outcome }),
    );
    events.sharedLooked?.({ resource, outcome });
    if (waited !== undefined && !isRefresh) level.patience.ended(waited);
    let isPut = false;
    try {
      if (taken !== undefined) return { ...taken, copied: true };
      const copy = await olderCopy(found, known?.snapshot.loadedAt ?? Number.NEGATIVE_INFINITY);
      if (copy !== undefined) keep?.(copy);
      const loaded = await load(caller, signal, { known: copy ?? known });
      if (found !== undefined) {
        isPut = true;
        void put(copies, caller, loaded, { generation: found.generation, lease });
      }
      return loaded;
    } finally {
      if (lease !== undefined && !isPut) void level.store.release(copies.name, lease);
    }
  }

  return async (caller, signal, asked) => {
    const copies = copiesOf(caller);
    // By its keys alone: nothing that is kept for long holds a credential.
    const { key, partition } = caller;
    const unfollow = level.followed.follow(copies.names, { cache, resource, caller: { key, partition } });
    try {
      return await takeOrLoad(copies, caller, signal, asked);
    } catch (error) {
      unfollow();
      throw error;
    }
  };
}
