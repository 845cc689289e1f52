import { fillBody, fillPath } from './config/schema/resource/templates.ts';
import { type Config, checked, type ResourceConfig } from './config/schema/settings.ts';
import type { KeyOf } from './credentials/authenticate.ts';
import { refusalOf, withOtherCredential } from './credentials/other-credential.ts';
import { type Holdings, readingOf } from './holdings.ts';
import { CREDENTIAL_KINDS } from './kernel/credential-kinds.ts';
import type { Events } from './kernel/events.ts';
import type { Users } from './kernel/tables.ts';
import type { Offered } from './reads/catalogue/catalogue.ts';
import { createLoader } from './reads/catalogue/loader.ts';
import { compileList, createPageReader, type PageTurns } from './reads/catalogue/page-reader.ts';
import { renamed } from './reads/snapshots/cache.ts';
import type { Loader, Read } from './reads/snapshots/load.ts';
import { withCache } from './reads/snapshots/with-cache.ts';
import { define, type Resource, requiredFields } from './resources/resource.ts';
import { lowerCased } from './upstream/client/upstream-client.ts';
import type { ListPost } from './upstream/paging/page-address.ts';
import type { Upstream } from './upstream/upstream.ts';

export interface Offer {
  readonly resource: Resource;
  readonly settings: ResourceConfig;
}

export interface ReadsOptions {
  readonly upstreams: ReadonlyMap<string, Upstream>;
  readonly holdings: Holdings;
  /** Names in the cache. */
  readonly names: ReadonlyMap<string, string>;
  readonly hooks: {
    wrapRead(read: Read, resource: string): Read;
    wrapLoad(load: Loader, resource: string): Loader;
    wrapUpstream(upstream: Upstream, resource: string): Upstream;
  };
  readonly pageTurns: PageTurns;
  readonly users: Users;
  readonly events: Events;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/**
 * Composes the read of each resource: pages are loaded and mapped, snapshots stored and shared, for the caller that the
 * upstream sees.
 */
export function openReads(
  config: Config,
  offers: readonly Offer[],
  { upstreams, holdings, names, hooks, pageTurns, users, events, now }: ReadsOptions,
): (Offered & { readonly read: Read })[] {
  const cache = renamed(holdings.cache, names);

  function loaderOf({ resource, settings }: Offer): Loader {
    const { timeoutMs, baseUrl } = checked(config.upstreams[settings.upstream]);
    const listSettings = {
      ...settings,
      resource: resource.name,
      baseUrl,
      path: fillPath(settings.path, settings.pathParams),
      headers: lowerCased(settings.headers),
      required: requiredFields(resource),
    };
    const compiled = compileList(listSettings);
    return createLoader({
      resource: resource.name,
      upstream: hooks.wrapUpstream(checked(upstreams.get(settings.upstream)), resource.name),
      timeoutMs,
      rules: settings,
      list: { ...compiled.list, post: compilePost(settings) },
      readPage: createPageReader(compiled, pageTurns),
      maxReadBytes: settings.maxReadBytes,
      loading: holdings.loading,
      compare: holdings.compare.bind(undefined, checked(names.get(resource.name))),
      events,
      now,
    });
  }

  function cached(load: Loader, { resource, settings }: Offer): Read {
    const siblings = offers.filter((other) => other.settings.upstream === settings.upstream);
    const stored = siblings.filter((sibling) => sibling.resource.stored);
    return withCache(load, {
      resource: resource.name,
      siblings: siblings.map((sibling) => sibling.resource.name),
      cache,
      secondLevel: {
        store: holdings.store,
        origin: checked(config.upstreams[settings.upstream]).baseUrl,
        storedSiblings: stored.map((sibling) => sibling.resource.name),
        reading: readingOf(resource, config),
        maxBytes: settings.maxReadBytes,
      },
      wrapLoad: hooks.wrapLoad,
      lifetime: settings.cache,
      waiting: holdings.waiting,
      events,
      now,
    });
  }

  return offers.map((offer) => {
    const { resource, settings } = offer;
    const read = cached(users.during(loaderOf(offer)), offer);
    return {
      resource: { ...resource, keywords: [...resource.keywords, ...settings.keywords] },
      definition: define(resource, config.scheme),
      upstream: settings.upstream,
      known: knownValues(settings),
      requiredScopes: config.verification === undefined ? [] : settings.requiredScopes,
      read: hooks.wrapRead(
        withKnownCaller(read, { config, upstream: settings.upstream, keyOf: holdings.keyOf }),
        resource.name,
      ),
    };
  });
}

function knownValues({ fields }: ResourceConfig): Readonly<Record<string, readonly string[]>> {
  const known = Object.entries(fields).map(([name, field]) => {
    const texts = [...Object.values(field.values), field.default].filter((text) => text !== '');
    return [name, [...new Set(texts)]] as const;
  });
  return Object.fromEntries(known.filter(([, texts]) => texts.length > 0));
}

function compilePost({ method, body, retryPost }: ResourceConfig): ListPost | undefined {
  if (method === 'GET') return undefined;
  const template = structuredClone(body);
  return { body: template && ((places) => JSON.stringify(fillBody(template, places))), isRepeatable: retryPost };
}

interface KnownCallerOptions {
  readonly config: Pick<Config, 'upstreams' | 'verification'>;
  readonly upstream: string;
  readonly keyOf: KeyOf;
}

/** Reads as another header's credential, or as one cache scope of all verified callers if the upstream receives nothing from them. */
function withKnownCaller(read: Read, { config, upstream, keyOf }: KnownCallerOptions): Read {
  const credential = config.upstreams[upstream]?.credential;
  if (credential?.kind === 'header' && credential.from !== undefined) {
    const other = { from: credential.from, upstream, keyOf };
    return async (caller, options) => {
      try {
        return await read(withOtherCredential(caller, other), options);
      } catch (error) {
        throw refusalOf(error, other);
      }
    };
  }
  if (CREDENTIAL_KINDS[checked(credential).kind].provesToken || config.verification === undefined) return read;
  // Tokens contain no spaces, so this is never a token's key.
  const cacheScope = keyOf(`everybody at ${upstream}`);
  return (caller, options) => read({ ...caller, cacheScope }, options);
}

/** Headers beside `Authorization` in which callers send credentials for these upstreams. */
export function otherCredentialsIn({ upstreams }: Pick<Config, 'upstreams'>, names: readonly string[]): string[] {
  const found = names.flatMap((name) => {
    const credential = upstreams[name]?.credential;
    return credential?.kind === 'header' ? (credential.from ?? []) : [];
  });
  return [...new Set(found)];
}
