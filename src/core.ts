import { isDeepStrictEqual } from 'node:util';
import { type Catalogue, createCatalogue } from './catalogue/catalogue.ts';
import { compileList } from './catalogue/compile.ts';
import { createLoader } from './catalogue/loader.ts';
import { createPageDesk } from './catalogue/page-desk.ts';
import { fillBody, fillPath } from './config/schema/resource/templates.ts';
import { type Config, type ResourceConfig, resourceConfig } from './config/schema/settings.ts';
import { type Authenticate, createAuthenticate } from './credentials/authenticate.ts';
import type { Authorization } from './credentials/authorization.ts';
import { proxyAuthorization } from './credentials/proxy-authorization.ts';
import { openVerification, type Verification, type VerifiedBy } from './credentials/verification/open-verification.ts';
import { carriedOver, createHoldings, type Holdings, readingOf, type SharedParts } from './holdings.ts';
import { createUsers, type Users } from './kernel/users.ts';
import { otherCredentialsIn, withKnownCaller } from './known-callers.ts';
import type { Events } from './observability/events.ts';
import { readVersion } from './observability/version.ts';
import { createOwnFiles, type OwnFiles, withFiles } from './own-files.ts';
import { RESOURCES } from './resources/index.ts';
import { define, type Resource, requiredFields } from './resources/resource.ts';
import { renamed } from './snapshots/cache.ts';
import { withCache } from './snapshots/with-cache.ts';
import { lowerCased } from './upstream/client/client.ts';
import type { Tap } from './upstream/client/tap.ts';
import { openServer } from './upstream/open-server.ts';
import { type OpenUpstreamOptions, openUpstream } from './upstream/open-upstream.ts';
import type { ListPost } from './upstream/pagination/page-address.ts';

export interface CoreOptions {
  readonly events: Events;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** The registry that the settings were checked for. @default `RESOURCES` */
  readonly resources?: readonly Resource[];
  /** Opens the files that settings name. @default others have been opened by nobody */
  readonly files?: OwnFiles | undefined;
  /** How replicas hold snapshots together. @default they do not */
  readonly shared?: SharedParts | undefined;
  /** Sees each exchange with an upstream as it is. @default none */
  readonly tap?: Tap | undefined;
  /** The core so far, of which this one takes over what settings leave as it was. @default none */
  readonly before?: Core | undefined;
}

type OpenUpstream = ReturnType<typeof openUpstream>;

/** How an issuer is asked about tokens: as an upstream is by default. No upstream has such a name. */
const INTROSPECTION = {
  name: 'verification.introspection',
  tls: undefined,
  proxy: undefined,
  connections: 16,
  breaker: { failurePercent: 50, minimumCalls: 10, windowMs: 10_000, openMs: 5000 },
  retry: { attempts: 2, baseDelayMs: 50, maxDelayMs: 1000, budgetPercent: 20 },
};

/** What every edge stands on: the catalogue, and the upstreams behind it. */
export interface Core extends Pick<Users, 'enter' | 'leave'> {
  readonly config: Config;
  readonly catalogue: Catalogue;
  /** Those of the resources that are offered. */
  readonly upstreams: ReadonlyMap<string, OpenUpstream>;
  /** Finds out who asks. */
  readonly authenticate: Authenticate;
  /** Names of the headers beside `Authorization` in which callers bring credentials. */
  readonly otherCredentials: readonly string[];
  /** Whoever verifies callers; `undefined`: nobody does. */
  readonly verification: Verification | undefined;
  readonly holdings: Holdings;
  /**
   * Ends it once nobody uses it, but for what `next` has taken over. What it holds of resources that `next` reads in another
   * way is let go of at once.
   */
  retire(next: Core): Promise<void>;
  /** Ends it at once. */
  close(): Promise<void>;
}

/**
 * Builds the catalogue that settings describe. No upstream is asked; the files of the upstreams are read. Throws `ConfigError`
 * where one of them, or of those that were opened before, cannot be used; nothing has changed then.
 */
export function createCore(config: Config, options: CoreOptions): Core {
  const { events, now, resources = RESOURCES, tap, before, files = createOwnFiles(options) } = options;
  const offered = resources
    .map((resource) => ({ resource, settings: resourceConfig(config, resource) }))
    .filter(({ settings }) => settings.enabled);
  const verifiedBy = verifiedByOf(
    config,
    offered.flatMap(({ settings }) => settings.requiredScopes),
  );
  const verifiesAlike = isDeepStrictEqual(before?.verification?.by, verifiedBy);
  const authorization = verifiesAlike ? undefined : files.clientAuthorization(config);
  const upstreams = openUpstreams(
    config,
    offered.map(({ settings }) => settings.upstream),
    { events, tap, before, files },
  );
  const holdings =
    before === undefined
      ? createHoldings(config, { resources, events, now, shared: options.shared })
      : carriedOver(before.holdings, { from: before.config, to: config, resources });
  const { memoFor, loading, waiting } = holdings;
  const nameOf = (resource: string) => found(holdings.names.get(resource));
  const cache = renamed(holdings.cache, nameOf);
  const { keyOf } = holdings;
  const verification = verifiesAlike
    ? before?.verification
    : verifiedBy &&
      openVerification(verifiedBy, {
        ...{ keyOf, authorization, events, now },
        openServer: (own) => openServer({ ...INTROSPECTION, ...own, connectTimeoutMs: own.timeoutMs, events }),
      });
  const desk = createPageDesk(Math.max(...Object.values(config.upstreams).map(({ maxPageBytes }) => maxPageBytes)));
  const users = createUsers();

  const catalogue = createCatalogue(
    offered.map(({ resource, settings }) => {
      const { name } = resource;
      const { timeoutMs, baseUrl } = found(config.upstreams[settings.upstream]);
      const upstream = found(upstreams.get(settings.upstream));
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
        memo: memoFor(nameOf(name)),
        events,
        now,
      });
      const requiredScopes = config.verification === undefined ? [] : settings.requiredScopes;
      const siblings = offered.filter((other) => other.settings.upstream === settings.upstream);
      const stored = siblings.filter((sibling) => sibling.resource.stored);
      const cached = {
        resource: name,
        siblings: siblings.map((sibling) => sibling.resource.name),
        cache,
        shared: holdings.shared && {
          level: holdings.shared,
          origin: baseUrl,
          stored: stored.map((sibling) => sibling.resource.name),
          reading: JSON.stringify([readVersion(), readingOf(resource, config)]),
          maxBytes: settings.maxReadBytes,
        },
        lifetime: settings.cache,
        waiting,
        events,
        now,
      };
      const definition = define(resource, config.scheme);
      const read = withKnownCaller(withCache(users.during(load), cached), {
        config,
        upstream: settings.upstream,
        keyOf,
      });
      return { resource, definition, known: knownValues(settings), requiredScopes, read };
    }),
  );

  events.resourcesOffered?.({ resources: offered.map(({ resource }) => resource.name) });

  /** Ends all but what another core has taken over. */
  async function close(next?: Core): Promise<void> {
    const kept = new Set<unknown>([...(next?.upstreams.values() ?? []), next?.verification]);
    const ending = [...upstreams.values(), verification].filter((one) => !kept.has(one));
    await Promise.all([desk.close(), ...ending.map((one) => one?.close())]);
  }

  return {
    config,
    catalogue,
    upstreams,
    otherCredentials: otherCredentialsIn(
      config,
      offered.map(({ settings }) => settings.upstream),
    ),
    authenticate: createAuthenticate({ verify: verification?.verify, keyOf }),
    verification,
    holdings,
    enter: users.enter,
    leave: users.leave,
    async retire(next) {
      const kept = new Set(next.holdings.names.values());
      const drop = () => {
        for (const name of holdings.names.values()) if (!kept.has(name)) holdings.cache.drop(name);
      };
      drop();
      await users.none();
      // What was under way has stored since.
      drop();
      await close(next);
    },
    async close() {
      await close();
      holdings.shared?.close();
    },
  };
}

/** Opens these upstreams, but for those that run already under the same settings. */
function openUpstreams(
  config: Config,
  names: readonly string[],
  { events, tap, before, files }: Pick<CoreOptions, 'events' | 'tap' | 'before'> & { readonly files: OwnFiles },
): Map<string, OpenUpstream> {
  const opened = new Map<string, Authorization & Required<Pick<OpenUpstreamOptions, 'tls' | 'proxy'>>>();
  const upstreams = new Map<string, OpenUpstream>();
  for (const name of new Set(names)) {
    const settings = found(config.upstreams[name]);
    const running = before?.upstreams.get(name);
    if (running !== undefined && isDeepStrictEqual(before?.config.upstreams[name], settings)) {
      upstreams.set(name, running);
      continue;
    }
    const authorization = files.authorization(name, settings);
    const tls = withFiles(settings.tls, files.upstreamTls(name, settings));
    const proxy = settings.proxy && { url: settings.proxy.url, authorize: proxyAuthorization(settings.proxy) };
    if (authorization !== undefined) opened.set(name, { ...authorization, tls, proxy });
  }
  files.check();
  // Once it is certain that all of them can be.
  for (const [name, own] of opened) {
    const settings = found(config.upstreams[name]);
    upstreams.set(name, openUpstream({ ...settings, ...own, name, events, tap }));
  }
  return upstreams;
}

/** By what callers are verified, where settings have that; for resources that need these scopes. */
function verifiedByOf({ verification, publicUrl }: Config, scopes: readonly string[]): VerifiedBy | undefined {
  if (verification === undefined) return undefined;
  const { audience = `${publicUrl}/mcp` } = verification;
  return { settings: { ...verification, audience }, scopes: [...new Set(scopes)] };
}

/** What settings that were checked have for certain. */
function found<T>(value: T | undefined): T {
  if (value === undefined) throw new Error('the settings were not checked');
  return value;
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
