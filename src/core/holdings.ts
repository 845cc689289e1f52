import { isDeepStrictEqual } from 'node:util';
import { type Config, resourceConfig } from './config/schema/settings.ts';
import { createKeyOf, type KeyOf } from './credentials/authenticate.ts';
import type { CallerPlaces } from './kernel/caller-places.ts';
import type { Events } from './kernel/events.ts';
import { type CompareLists, createComparison } from './reads/catalogue/drift.ts';
import { createSnapshotCache, type SnapshotCache } from './reads/snapshots/cache.ts';
import { NO_SNAPSHOT_STORE, type SnapshotStore } from './reads/snapshots/snapshot-store.ts';
import { createWaiting } from './reads/snapshots/with-flights.ts';
import type { Resource } from './resources/resource.ts';
import { createLoading, type Loading } from './upstream/loading.ts';

/** State that outlives a reload. Its bounds are those of the first settings. */
export interface Holdings {
  /** Builds callers' keys, by which all state is kept. */
  readonly keyOf: KeyOf;
  readonly cache: SnapshotCache;
  readonly store: SnapshotStore;
  readonly compare: CompareLists;
  readonly loading: Loading;
  readonly waiting: CallerPlaces;
  /** Name of each resource in the cache: another one after a change of how it is read. */
  readonly names: ReadonlyMap<string, string>;
}

export interface HoldingsOptions {
  readonly resources: readonly Resource[];
  readonly events: Events;
  /** @default random keys of this process */
  readonly keyOf?: KeyOf | undefined;
  /** The second level of snapshots. @default none */
  readonly store?: SnapshotStore | undefined;
}

/** Creates what there is before anything is read. */
export function createHoldings(config: Config, options: HoldingsOptions): Holdings {
  const { resources, events, keyOf = createKeyOf(), store = NO_SNAPSHOT_STORE } = options;
  const cacheEvents: Events = {
    ...events,
    snapshotDisplaced: ({ resource }) => events.snapshotDisplaced?.({ resource: ownName(resource) }),
  };
  return {
    keyOf,
    store,
    cache: createSnapshotCache(config.cache, cacheEvents),
    compare: createComparison(config.maxCompared),
    loading: createLoading({ maxBytes: config.maxLoadingBytes }),
    waiting: createWaiting(config),
    names: new Map(resources.map(({ name }) => [name, name])),
  };
}

/** Returns the same state for other settings, without the snapshots of resources that these read differently. */
export function carriedOver(
  held: Holdings,
  { from, to, resources }: { readonly from: Config; readonly to: Config; readonly resources: readonly Resource[] },
): Holdings {
  const names = resources.map((resource) => {
    const { name } = resource;
    const before = held.names.get(name) ?? name;
    return [name, isReadAlike(resource, from, to) ? before : following(before)] as const;
  });
  return { ...held, names: new Map(names) };
}

/** `tools`, `tools~2`, `tools~3`: no resource has such a name. */
function following(name: string): string {
  const [, count = '1'] = name.split('~');
  return `${ownName(name)}~${Number(count) + 1}`;
}

/** The resource's own name. */
function ownName(name: string): string {
  const [own = ''] = name.split('~');
  return own;
}

/** Returns whether two settings read a resource equally, and distinguish callers equally. */
function isReadAlike(resource: Resource, from: Config, to: Config): boolean {
  return isDeepStrictEqual(readingOf(resource, from), readingOf(resource, to));
}

/**
 * Returns all settings that a list depends on: upstream, credential and mapping. Lifetimes, scopes and keywords are
 * not among them.
 */
export function readingOf(resource: Resource, config: Config): object {
  const { cache: _, requiredScopes: __, keywords: ___, ...settings } = resourceConfig(config, resource);
  return { ...settings, upstream: config.upstreams[settings.upstream], verification: config.verification };
}
