import { type Catalogue, createCatalogue } from './catalogue/catalogue.ts';
import { compileList } from './catalogue/compile.ts';
import { createLoader, type Made } from './catalogue/loader.ts';
import { createPageDesk } from './catalogue/page-desk.ts';
import { ConfigError, type ConfigIssue } from './config/config-error.ts';
import { type Config, type ResourceConfig, resourceConfig } from './config/schema/settings.ts';
import { fillBody, fillPath } from './config/schema/templates.ts';
import { type Authorization, openAuthorization } from './credentials/authorize.ts';
import type { Events } from './observability/events.ts';
import { RESOURCES } from './resources/index.ts';
import { define, type Resource, requiredFields } from './resources/resource.ts';
import { createSnapshotCache, type SnapshotCache } from './snapshots/cache.ts';
import { createMemos } from './snapshots/memo.ts';
import { createWaiting } from './snapshots/waiting.ts';
import { withCache } from './snapshots/with-cache.ts';
import { lowerCased } from './upstream/client/client.ts';
import type { Tap } from './upstream/client/tap.ts';
import { createLoading } from './upstream/loading.ts';
import { openUpstream } from './upstream/open-upstream.ts';
import type { ListPost } from './upstream/pagination/page-address.ts';

export interface CoreOptions {
  readonly events: Events;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** The registry that the settings were checked for. @default `RESOURCES` */
  readonly resources?: readonly Resource[];
  /** Sees each exchange with an upstream as it is. @default none */
  readonly tap?: Tap;
}

type OpenUpstream = ReturnType<typeof openUpstream>;

/** What every edge stands on: the catalogue, and the upstreams behind it. */
export interface Core {
  readonly catalogue: Catalogue;
  readonly cache: SnapshotCache;
  /** Those of the resources that are offered. */
  readonly upstreams: ReadonlyMap<string, OpenUpstream>;
  close(): Promise<void>;
}

/**
 * Builds the catalogue that settings describe. No upstream is asked; the files of secrets are read. Throws `ConfigError`
 * where one of them cannot be used.
 */
export function createCore(config: Config, { events, now, resources = RESOURCES, tap }: CoreOptions): Core {
  const offered = resources
    .map((resource) => ({ resource, settings: resourceConfig(config, resource) }))
    .filter(({ settings }) => settings.enabled);
  const authorizations = openAuthorizations(
    config,
    offered.map(({ settings }) => settings.upstream),
    { events, now },
  );
  const upstreams = new Map<string, OpenUpstream>();
  const cache = createSnapshotCache(config.cache);
  const memoFor = createMemos<Made>(config.cache.reuseMaxBytes);
  const desk = createPageDesk(Math.max(...Object.values(config.upstreams).map(({ maxPageBytes }) => maxPageBytes)));
  const loading = createLoading({ maxBytes: config.maxLoadingBytes });
  const waiting = createWaiting(config);

  function upstreamOf({ upstream: name }: ResourceConfig): {
    upstream: OpenUpstream;
    timeoutMs: number;
    baseUrl: string;
  } {
    const settings = config.upstreams[name];
    const authorization = authorizations.get(name);
    if (settings === undefined || authorization === undefined) throw new Error('the settings were not checked');
    const { timeoutMs, baseUrl } = settings;
    const upstream = upstreams.get(name) ?? openUpstream({ ...settings, ...authorization, name, events, tap });
    upstreams.set(name, upstream);
    return { upstream, timeoutMs, baseUrl };
  }

  const catalogue = createCatalogue(
    offered.map(({ resource, settings }) => {
      const { name } = resource;
      const { upstream, timeoutMs, baseUrl } = upstreamOf(settings);
      const listSettings = {
        ...settings,
        baseUrl,
        path: fillPath(settings.path, settings.pathParams),
        headers: lowerCased(settings.headers),
        required: requiredFields(resource),
      };
      const load = createLoader({
        resource: name,
        upstream,
        timeoutMs,
        strictMapping: settings.strictMapping,
        list: { ...compileList(listSettings).list, post: compilePost(settings) },
        readPage: desk.open(name, listSettings),
        maxReadBytes: settings.maxReadBytes,
        loading,
        memo: memoFor(name),
        events,
        now,
      });
      const siblings = offered.filter((other) => other.settings.upstream === settings.upstream);
      const read = withCache(load, {
        resource: name,
        siblings: siblings.map((sibling) => sibling.resource.name),
        cache,
        lifetime: settings.cache,
        waiting,
        events,
        now,
      });
      return { resource, definition: define(resource, config.scheme), known: knownValues(settings), read };
    }),
  );
  return {
    catalogue,
    cache,
    upstreams,
    async close() {
      await Promise.all([desk.close(), ...[...upstreams.values()].map((upstream) => upstream.close())]);
    },
  };
}

/** How each of these upstreams is told who asks. */
function openAuthorizations(
  { upstreams }: Config,
  names: readonly string[],
  { events, now }: Pick<CoreOptions, 'events' | 'now'>,
): Map<string, Authorization> {
  const authorizations = new Map<string, Authorization>();
  const issues: ConfigIssue[] = [];
  for (const name of new Set(names)) {
    const settings = upstreams[name];
    if (settings === undefined) continue;
    const onChange = (issue?: string) => events.secretChanged?.({ upstream: name, issue });
    const opened = openAuthorization(settings.credential, { now, onChange });
    if ('issue' in opened) issues.push({ path: ['upstreams', name, 'credential', 'file'], message: opened.issue });
    else authorizations.set(name, opened);
  }
  if (issues.length > 0) throw new ConfigError(issues);
  return authorizations;
}

/** What fields may be, as far as settings say: the texts of their tables, and what stands where a platform has none. */
function knownValues({ fields }: ResourceConfig): Readonly<Record<string, readonly string[]>> {
  const known = Object.entries(fields).map(([name, field]) => {
    const texts = [...Object.values(field.values), field.default].filter((text) => text !== '');
    return [name, [...new Set(texts)]] as const;
  });
  return Object.fromEntries(known.filter(([, texts]) => texts.length > 0));
}

/** How pages are posted, where settings want that. */
function compilePost({ method, body, retryPost }: ResourceConfig): ListPost | undefined {
  if (method === 'GET') return undefined;
  const template = structuredClone(body);
  return { body: template && ((places) => JSON.stringify(fillBody(template, places))), isRepeatable: retryPost };
}
