import { setTimeout as sleep } from 'node:timers/promises';
import { createCatalogue } from './catalogue/catalogue.ts';
import { createLoader } from './catalogue/loader.ts';
import { parseConfig } from './config/load.ts';
import type { Config, SettingsInput } from './config/schema/settings.ts';
import { createPartitioner } from './credentials/partition.ts';
import { createPresenter } from './credentials/present.ts';
import { createAdminServer } from './http/admin-server.ts';
import { createHttpServer } from './http/server.ts';
import { compileExpression } from './mapping/expression.ts';
import { createMapper } from './mapping/mapper.ts';
import { createPageParser } from './mapping/page.ts';
import { createLogger, type Logger } from './observability/logger.ts';
import { RESOURCES, type ResourceName } from './resources/index.ts';
import { define, type Resource, requiredFields } from './resources/resource.ts';
import { createSnapshotCache } from './snapshots/cache.ts';
import { createForms } from './snapshots/forms.ts';
import type { Loader } from './snapshots/load.ts';
import { createMemories, type Memory } from './snapshots/memory.ts';
import { withCache } from './snapshots/with-cache.ts';
import type { BreakerState } from './upstream/breaker.ts';
import { openUpstream } from './upstream/open-upstream.ts';
import type { Pagination } from './upstream/pagination/pagination.ts';
import type { Upstream } from './upstream/upstream.ts';
import type { BreakerUpstream } from './upstream/with-breaker.ts';

export { ConfigError } from './config/config-error.ts';
export type { Config, SettingsInput } from './config/schema/settings.ts';
export type { BreakerState } from './upstream/breaker.ts';

export interface GatewayOptions {
  /** @default a logger on standard output, at `log.level` */
  readonly logger?: Logger;
  /** Milliseconds since the epoch, for how old an answer is. @default `Date.now` */
  readonly now?: () => number;
}

/** One Portico in this process. */
export interface Gateway {
  /** Base URL of the public listener, without a trailing slash (`unix:<path>` on a socket). Throws before `start`. */
  readonly url: string;
  /** Base URL of the admin listener; `undefined` where there is none, or before `start`. */
  readonly adminUrl: string | undefined;
  /** State of the circuit breaker of each upstream now, by the upstream's name in settings. */
  readonly breakers: Readonly<Record<string, BreakerState>>;
  /** Listens, and resolves with `url`. Rejects with Node's own error where it cannot. No upstream is asked. */
  start(): Promise<string>;
  /**
   * Drains: `/readyz` says 503 for `shutdown.delayMs`, then nothing more is accepted, and what is in flight has
   * `shutdown.graceMs` to finish. Resolves with whether all of it did.
   */
  close(): Promise<boolean>;
}

/**
 * Puts a gateway together from settings, as a person would write them in YAML. Throws `ConfigError` with every
 * mistake in them. Nothing listens and no upstream is asked before `start`.
 */
export function createGateway(settings: SettingsInput, options: GatewayOptions = {}): Gateway {
  const config = parseConfig(settings);
  const logger = options.logger ?? createLogger({ level: config.log.level });
  const upstreams = openUpstreams(config, logger);
  const now = options.now ?? Date.now;
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
  const http = createHttpServer({
    settings: config.http,
    catalogue,
    partition: createPartitioner(),
    encode: createForms(cache),
    logger,
    now,
    readDeadlineMs: Math.max(...Object.values(config.upstreams).map(({ timeoutMs }) => timeoutMs)),
  });
  const admin = config.admin.enabled
    ? createAdminServer({ settings: config.admin, logger, isDraining: http.isDraining })
    : undefined;
  let url: string | undefined;
  let adminUrl: string | undefined;

  return {
    get url() {
      if (url === undefined) throw new Error('the gateway has not started');
      return url;
    },
    get adminUrl() {
      return adminUrl;
    },
    get breakers() {
      return Object.fromEntries([...upstreams].map(([name, { breakerState }]) => [name, breakerState]));
    },
    async start() {
      adminUrl = await admin?.listen();
      try {
        url = await http.listen();
      } catch (error) {
        await admin?.drain(0);
        throw error;
      }
      return url;
    },
    async close() {
      http.markDraining();
      await sleep(config.shutdown.delayMs);
      const whole = await http.drain(config.shutdown.graceMs);
      await admin?.drain(0);
      await Promise.all([...upstreams.values()].map((upstream) => upstream.close()));
      return whole;
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
