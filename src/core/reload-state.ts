import { hash } from 'node:crypto';
import { type Config, resourceConfig } from './config/schema/settings.ts';
import type { Events } from './kernel/events.ts';
import { LIST_FORMAT } from './kernel/version.ts';
import { createComparison } from './reads/catalogue/list-checks.ts';
import { createSnapshotCache } from './reads/snapshots/cache.ts';
import { createWaiting } from './reads/snapshots/with-cache.ts';
import type { Resource } from './resources/resource.ts';
import type { Sharing } from './sharing.ts';
import { createLoading } from './upstream/loading.ts';

/** State that outlives a reload. Its bounds are those of the first settings. */
export type ReloadState = ReturnType<typeof createReloadState>;

/** Creates what there is before anything is read. */
export function createReloadState(config: Config, events: Events, { keyOf, snapshots: store }: Sharing) {
  return {
    keyOf,
    store,
    cache: createSnapshotCache(config.cache, events),
    compare: createComparison(config.maxCompared),
    loading: createLoading({ maxBytes: config.maxLoadingBytes }),
    waiting: createWaiting(config),
    /** Open upstreams, and the number of cores that use each. */
    holders: new Map<object, number>(),
  };
}

/** Returns everything that a list depends on, except the caller. Lifetimes, scopes and keywords are not among them. */
export function listFingerprint(resource: Resource, config: Config): string {
  const { cache: _, requiredScopes: __, keywords: ___, ...settings } = resourceConfig(config, resource);
  const { verification, upstreams, resources } = config;
  const parents = Object.entries(resources).find(([name]) => name === settings.each)?.[1];
  const upstream = upstreams[settings.upstream];
  return JSON.stringify([LIST_FORMAT, { ...settings, parents, upstream, verification }]);
}

/** Returns the name of each resource in the cache: another one where it is read differently. */
export function namesInCache(resources: readonly Resource[], config: Config): ReadonlyMap<string, string> {
  const digestOf = (resource: Resource) => hash('sha256', listFingerprint(resource, config), 'base64url').slice(0, 8);
  return new Map(resources.map((resource) => [resource.name, `${resource.name}~${digestOf(resource)}`]));
}
