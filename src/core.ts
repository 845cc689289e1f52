import { type Catalogue, createCatalogue } from './catalogue/catalogue.ts';
import { createLoader } from './catalogue/loader.ts';
import type { Config } from './config/schema/settings.ts';
import { createPresenter } from './credentials/present.ts';
import { compileExpression } from './mapping/expression.ts';
import { createMapper } from './mapping/mapper.ts';
import { createPageParser } from './mapping/page.ts';
import type { Logger } from './observability/logger.ts';
import { RESOURCES, type ResourceName } from './resources/index.ts';
import { define, type Resource, requiredFields } from './resources/resource.ts';
import { createSnapshotCache, type SnapshotCache } from './snapshots/cache.ts';
import type { Loader } from './snapshots/load.ts';
import { createMemories, type Memory } from './snapshots/memory.ts';
import { withCache } from './snapshots/with-cache.ts';
import { openUpstream } from './upstream/open-upstream.ts';
import type { Pagination } from './upstream/pagination/pagination.ts';
import type { Upstream } from './upstream/upstream.ts';
import type { BreakerUpstream } from './upstream/with-breaker.ts';

export interface CoreOptions {
  readonly logger: Logger;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/** What every edge stands on: the catalogue, and the upstreams behind it. */
export interface Core {
  readonly catalogue: Catalogue;
  readonly cache: SnapshotCache;
  readonly upstreams: ReadonlyMap<string, BreakerUpstream>;
  close(): Promise<void>;
}

/** Builds the catalogue that settings describe. No upstream is asked. */
export function createCore(config: Config, { logger, now }: CoreOptions): Core {
  const upstreams = openUpstreams(config, logger);
  const cache = createSnapshotCache(config.cache);
  const memoryFor = createMemories(config.cache.reuseMaxBytes);
  const catalogue = createCatalogue(
    RESOURCES.map((resource) => ({
      name: resource.name,
      definition: define(resource, config.scheme),
      source: withCache(resourceLoader(resource, config, upstreams, memoryFor(resource.name), now), {
        resource: resource.name,
        siblings: siblingsOf(resource.name, config),
        cache,
        lifetime: config.resources[resource.name].cache,
        logger,
        now,
      }),
    })),
  );
  return {
    catalogue,
    cache,
    upstreams,
    async close() {
      await Promise.all([...upstreams.values()].map((upstream) => upstream.close()));
    },
  };
}

function openUpstreams(config: Config, logger: Logger): Map<string, BreakerUpstream> {
  return new Map(
    Object.entries(config.upstreams).map(([name, settings]) => [
      name,
      openUpstream({ ...settings, name, credential: createPresenter(settings.credential), logger }),
    ]),
  );
}

function resourceLoader(
  resource: Resource & { name: ResourceName },
  config: Config,
  upstreams: Map<string, Upstream>,
  memory: Memory | undefined,
  now: () => number,
): Loader {
  const { upstream: name, pagination, items, ...settings } = config.resources[resource.name];
  const upstream = upstreams.get(name);
  const own = config.upstreams[name];
  if (upstream === undefined || own === undefined) throw new Error('the settings were not checked');
  return createLoader({
    upstream,
    timeoutMs: own.timeoutMs,
    list: { ...settings, baseUrl: own.baseUrl, pagination: compilePagination(pagination) },
    parse: createPageParser(items),
    map: createMapper({ ...settings, required: requiredFields(resource) }),
    memory,
    now,
  });
}

/** Every resource that comes from the upstream of this one. */
function siblingsOf(name: ResourceName, { resources }: Config): string[] {
  const { upstream } = resources[name];
  return Object.entries(resources).flatMap(([other, settings]) => (settings.upstream === upstream ? [other] : []));
}

/** Pagination with what a page says of itself as a function in place of its expression. */
function compilePagination(settings: Config['resources'][ResourceName]['pagination']): Pagination {
  const compile = (expression: string) => compileExpression(expression).evaluate;
  switch (settings.kind) {
    case 'none':
      return settings;
    case 'token':
      return { ...settings, next: compile(settings.next) };
    case 'link':
      return { ...settings, next: settings.next === undefined ? undefined : compile(settings.next) };
    case 'offset':
    case 'page':
      return { ...settings, total: settings.total === undefined ? undefined : compile(settings.total) };
  }
}
