import type { Offered } from '../reads/catalogue/catalogue.ts';
import type { Load } from '../reads/snapshots/load.ts';
import type { Snapshot } from '../reads/snapshots/snapshot.ts';
import { cacheOutcome } from '../reads/snapshots/with-cache.ts';
import { metaOf } from './revisions.ts';

/** A list is served although its freshness has ended. */
export interface Staleness {
  /** Code of the error that prevented a refresh; `undefined` while the first one runs. */
  readonly reason: string | undefined;
}

/** Returns `undefined` for a list that is not stale at `now` (milliseconds since the epoch). */
export function stalenessOf(load: Load, now: number): Staleness | undefined {
  if (cacheOutcome(load, now) !== 'stale') return undefined;
  return { reason: load.cached?.error?.code ?? load.refreshError };
}

/** Whether a request names this list as the one that the client has: an experiment until the protocol has its own. */
export function isKnown({ etag }: Snapshot, params: object): boolean {
  return metaOf({ params })['portico/ifNoneMatch'] === etag;
}

export type Provenance = ReturnType<typeof createProvenance>;

/** Where a list comes from, as a member of `_meta`. */
export function createProvenance(offered: readonly Pick<Offered, 'resource' | 'upstream'>[]) {
  const upstreams = new Map(offered.map(({ resource, upstream }) => [resource.name, upstream]));
  return (resource: string, { snapshot, excluded, dropped }: Load, stale: Staleness | undefined): string => {
    const provenance = {
      upstream: upstreams.get(resource),
      loadedAt: timeOf(snapshot),
      etag: snapshot.etag,
      leftOut: { bySettings: excluded, invalid: dropped },
      stale: stale !== undefined,
      staleReason: stale?.reason,
    };
    return `"portico/list":${JSON.stringify(provenance)}`;
  };
}

/** Remarks for a model beside the items of a list: none for a fresh and whole one. */
export function remarksOn({ snapshot, excluded, dropped }: Load, stale: Staleness | undefined) {
  const leftOut = { ...(excluded > 0 && { bySettings: excluded }), ...(dropped > 0 && { invalid: dropped }) };
  return {
    ...(excluded + dropped > 0 && { leftOut }),
    ...(stale && { stale: `Loaded at ${timeOf(snapshot)}. ${whyStale(stale)}` }),
  };
}

function whyStale({ reason }: Staleness): string {
  return reason === undefined ? 'It is being refreshed.' : `The platform could not be read since then: ${reason}.`;
}

const times = new WeakMap<Snapshot, string>();

/** Takes a seventh of a cached call where it is not remembered. */
function timeOf(snapshot: Snapshot): string {
  const time = times.get(snapshot) ?? new Date(snapshot.loadStartedAt).toISOString();
  times.set(snapshot, time);
  return time;
}
