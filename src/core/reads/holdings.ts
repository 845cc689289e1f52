import { isDeepStrictEqual } from 'node:util';
import {
  createSharedLevel,
  type SharedLevel,
  type SharedLevelOptions,
} from '../../capabilities/shared-cache/snapshots/level.ts';
import { type Config, resourceConfig } from '../config/schema/settings.ts';
import { createKeyOf, type KeyOf } from '../credentials/authenticate.ts';
import type { Events } from '../kernel/events.ts';
import type { Resource } from '../resources/resource.ts';
import { createLoading, type Loading } from '../upstream/loading.ts';
import type { Made } from './catalogue/loader.ts';
import { createSnapshotCache, type SnapshotCache } from './snapshots/cache.ts';
import { createMemos, type Memo } from './snapshots/memo.ts';
import { createWaiting, type Waiting } from './snapshots/waiting.ts';

/** What outlasts a change of settings. Its bounds are those of the first settings. */
export interface Holdings {
  /** Builds the keys of callers, by which all that is held is held. */
  readonly keyOf: KeyOf;
  readonly cache: SnapshotCache;
  /** What the replicas of a deployment hold together; `undefined`: each its own alone. */
  readonly shared: SharedLevel | undefined;
  readonly memoFor: (name: string) => Memo<Made> | undefined;
  readonly loading: Loading;
  readonly waiting: Waiting;
  /** Under which name it has what it holds of each resource: another one once that is read in another way. */
  readonly names: ReadonlyMap<string, string>;
}

/** How replicas hold snapshots together. */
export type SharedParts = Omit<SharedLevelOptions, 'maxNames' | 'now'>;

export interface HoldingsOptions {
  readonly resources: readonly Resource[];
  readonly events: Events;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** @default they do not */
  readonly shared?: SharedParts | undefined;
}

/** What there is before anything is read. Where replicas share snapshots, they build the same keys, too. */
export function createHoldings(config: Config, { resources, events, now, shared }: HoldingsOptions): Holdings {
  const told: Events = {
    ...events,
    snapshotDisplaced: ({ resource }) => events.snapshotDisplaced?.({ resource: ownName(resource) }),
  };
  return {
    keyOf: shared?.secrets[0].keyOf ?? createKeyOf(),
    cache: createSnapshotCache(config.cache, told),
    shared: shared && createSharedLevel({ ...shared, maxNames: config.cache.maxEntries * shared.secrets.length, now }),
    memoFor: createMemos<Made>(config.cache.reuseMaxBytes),
    loading: createLoading({ maxBytes: config.maxLoadingBytes }),
    waiting: createWaiting(config),
    names: new Map(resources.map(({ name }) => [name, name])),
  };
}

/** The same under other settings: of a resource that they read in another way, nothing is held. */
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

/** The name of the resource itself. */
function ownName(name: string): string {
  const [own = ''] = name.split('~');
  return own;
}

/** Whether two settings read a resource alike, for callers who are told apart alike. */
function isReadAlike(resource: Resource, from: Config, to: Config): boolean {
  return isDeepStrictEqual(readingOf(resource, from), readingOf(resource, to));
}

/**
 * All in settings that a list depends on, beside its caller: the upstream and the credential with which it is asked, and how it
 * is mapped. How long it is kept, and who may read it, is none of that.
 */
export function readingOf(resource: Resource, config: Config): object {
  const { cache: _, requiredScopes: __, ...settings } = resourceConfig(config, resource);
  return { ...settings, upstream: config.upstreams[settings.upstream], verification: config.verification };
}
