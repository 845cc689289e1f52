import type { ParentsConfig } from './config/schema/resource/joined-settings.ts';
import { fillBody, isPointer } from './config/schema/resource/templates.ts';
import { assertDefined, type Config, type ResourceConfig, resourceConfig } from './config/schema/settings.ts';
import type { KeyOf } from './credentials/authenticate.ts';
import { refusalOf, withOtherCredential } from './credentials/other-credential.ts';
import { CREDENTIAL_KINDS } from './kernel/credential-kinds.ts';
import type { Events } from './kernel/events.ts';
import type { UseCount } from './kernel/use-count.ts';
import { belowParent } from './reads/catalogue/below-parent.ts';
import type { Offered } from './reads/catalogue/catalogue.ts';
import { createJoinedLoader, PARENT_ITEM, type Parent } from './reads/catalogue/joined-lists.ts';
import { createLoader, type LoaderOptions } from './reads/catalogue/loader.ts';
import { compileList, createPageReader, type PageTurns } from './reads/catalogue/page-reader.ts';
import { withResourceNames } from './reads/snapshots/cache.ts';
import type { Loader, Read } from './reads/snapshots/load.ts';
import { withCache } from './reads/snapshots/with-cache.ts';
import { callerValuesFor, withMarkers } from './reads/with-caller-values.ts';
import { listFingerprint, type ReloadState } from './reload-state.ts';
import { define, type Resource, requiredFields } from './resources/resource.ts';
import { type OpenConfirmation, oneOfMany } from './upstream/paging/list-confirmation.ts';
import type { ListPost } from './upstream/paging/page-address.ts';
import type { Upstream } from './upstream/upstream.ts';

interface Offer {
  readonly resource: Resource;
  readonly settings: ResourceConfig;
}

interface ReadsOptions {
  /** All of the registry: a parent need not be offered. */
  readonly resources: readonly Resource[];
  readonly upstreams: ReadonlyMap<string, Upstream>;
  readonly reloadState: ReloadState;
  /** Names in the cache. */
  readonly names: ReadonlyMap<string, string>;
  readonly hooks: {
    wrapRead(read: Read, resource: string): Read;
    wrapLoad(load: Loader, resource: string): Loader;
    wrapUpstream(upstream: Upstream, resource: string): Upstream;
    readonly openConfirmation?: OpenConfirmation | undefined;
  };
  readonly pageTurns: PageTurns;
  readonly users: UseCount;
  readonly events: Events;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/**
 * Composes the read of each resource: pages are loaded and mapped, snapshots stored and shared, for the caller that the
 * upstream sees.
 */
export function composeReads(
  config: Config,
  offers: readonly Offer[],
  { resources, upstreams, reloadState, names, hooks, pageTurns, users, events, now }: ReadsOptions,
): (Offered & { readonly read: Read })[] {
  const cache = withResourceNames(reloadState.cache, names);

  function loaderOf({ resource, settings }: Offer): Loader {
    const { each, lists } = settings;
    const values = callerValuesFor(config, settings.upstream);
    const opened = hooks.wrapUpstream(assertDefined(upstreams.get(settings.upstream)), resource.name);
    const upstream = values.wrapUpstream(opened);
    const { timeoutMs } = assertDefined(config.upstreams[settings.upstream]);
    const source = { name: resource.name, upstream, required: requiredFields(resource) };
    const compare = reloadState.compare.bind(undefined, assertDefined(names.get(resource.name)));
    if (each === undefined && lists === undefined) return listLoader({ ...source, settings, compare })(events);
    const variants =
      lists === undefined ? [settings] : lists.map((list) => ({ ...settings, ...definedIn(list) }) as ResourceConfig);
    return createJoinedLoader({
      resource: resource.name,
      upstream: settings.upstream,
      timeoutMs,
      parents:
        each === undefined ? undefined : { open: parentsLoader(each, settings, source), max: settings.maxParents },
      lists: variants.map((variant, index) => ({
        place: lists && `lists.${index}`,
        open: listLoader({ ...source, settings: variant }),
      })),
      triesParents: hooks.openConfirmation !== undefined,
      concurrency: JOINED_AT_ONCE,
      maxItems: settings.maxItems,
      maxPages: settings.maxPages,
      maxReadBytes: settings.maxReadBytes,
      loading: reloadState.loading,
      rules: settings,
      events,
      now,
    });
  }

  /** The list of the parents, with each item as the platform sent it beside its documented fields. */
  function parentsLoader(each: string | ParentsConfig, child: ResourceConfig, source: ListSource) {
    const named = typeof each === 'string' ? assertDefined(resources.find(({ name }) => name === each)) : undefined;
    const own = typeof each !== 'string' && {
      ...each,
      method: 'GET',
      body: undefined,
      // Without a parent, nothing shows that the list below it is missing.
      notFound: 'error',
      invalidItems: 'fail',
      duplicateIds: 'fail',
      fields: { id: plainField(each.id) },
    };
    const settings = { ...child, where: undefined, ...(named ? resourceConfig(config, named) : own) };
    const fields = { ...settings.fields, [PARENT_ITEM]: plainField('to_string(@)') };
    return listLoader({ ...source, settings: { ...settings, fields } as ResourceConfig, required: ['id'] });
  }

  /** Compiles one list; the result opens it, for a parent if it has one. */
  function listLoader({ name, upstream, required, compare = () => [], ...options }: ListSource & ListLoaderOptions) {
    const settings = withMarkers(options.settings);
    const { timeoutMs, baseUrl } = assertDefined(config.upstreams[settings.upstream]);
    const { path } = settings;
    const compiled = compileList({ ...settings, resource: name, baseUrl, required });
    const post = compilePost(settings);
    const confirmation = hooks.openConfirmation?.(
      `${name} ${path} ${JSON.stringify([settings.query, settings.items])}`,
      assertDefined(names.get(name)),
    );
    return (ownEvents: Events, parent?: Parent): Loader => {
      const isOfParent = parent !== undefined;
      const list = isOfParent ? belowParent(compiled, path, parent) : compiled;
      return createLoader({
        resource: name,
        upstream,
        timeoutMs,
        rules: { ...settings, isOfParent },
        list: { ...list.list, post },
        readPage: createPageReader(list, pageTurns),
        maxReadBytes: settings.maxReadBytes,
        loading: reloadState.loading,
        confirmation: isOfParent && confirmation !== undefined ? oneOfMany(confirmation) : confirmation,
        compare,
        events: ownEvents,
        now,
      });
    };
  }

  function cached(load: Loader, { resource, settings }: Offer): Read {
    const siblings = offers.filter((other) => other.settings.upstream === settings.upstream);
    return withCache(load, {
      resource: resource.name,
      siblings: siblings.map((sibling) => sibling.resource.name),
      cache,
      secondLevel: {
        store: reloadState.store,
        origin: assertDefined(config.upstreams[settings.upstream]).baseUrl,
        fingerprint: listFingerprint(resource, config),
        maxBytes: settings.maxReadBytes,
      },
      wrapLoad: hooks.wrapLoad,
      lifetime: settings.cache,
      waiting: reloadState.waiting,
      events,
      now,
    });
  }

  return offers.map((offer) => {
    const { resource, settings } = offer;
    const { keyOf } = reloadState;
    const cachedRead = cached(users.track(loaderOf(offer)), offer);
    const read = callerValuesFor(config, settings.upstream).wrapRead(cachedRead, settings, keyOf);
    return {
      resource: { ...resource, keywords: [...resource.keywords, ...settings.keywords] },
      definition: define(resource, config.scheme),
      upstream: settings.upstream,
      known: knownValues(settings),
      requiredScopes: config.verification === undefined ? [] : settings.requiredScopes,
      read: hooks.wrapRead(withUpstreamIdentity(read, { config, upstream: settings.upstream, keyOf }), resource.name),
    };
  });
}

/** Lists of one resource that are read at once, beside the bound of the upstream's connections. */
const JOINED_AT_ONCE = 8;

interface ListSource {
  readonly name: string;
  readonly upstream: Upstream;
  readonly required: readonly string[];
}

interface ListLoaderOptions {
  readonly settings: ResourceConfig;
  readonly compare?: LoaderOptions['compare'];
}

function plainField(from: string) {
  return { from, default: '', values: {}, format: 'none' } as const;
}

/** The entries that have a value. */
function definedIn<T extends object>(block: T): Partial<T> {
  return Object.fromEntries(Object.entries(block).filter(([, value]) => value !== undefined)) as Partial<T>;
}

function knownValues({ fields }: ResourceConfig): Readonly<Record<string, readonly string[]>> {
  const known = Object.entries(fields).map(([name, field]) => {
    const texts = [...Object.values(field.values), field.default].filter((text) => text !== '');
    return [name, [...new Set(texts)]] as const;
  });
  return Object.fromEntries(known.filter(([, texts]) => texts.length > 0));
}

function compilePost({ method, body, retryPost, pagination }: ResourceConfig): ListPost | undefined {
  if (method === 'GET') return undefined;
  const template = structuredClone(body);
  const token = pagination.kind === 'token' && isPointer(pagination.tokenParam) ? pagination.tokenParam : undefined;
  return { body: template && ((places) => JSON.stringify(fillBody(template, places, token))), isRepeatable: retryPost };
}

interface KnownCallerOptions {
  readonly config: Pick<Config, 'upstreams' | 'verification'>;
  readonly upstream: string;
  readonly keyOf: KeyOf;
}

/** Reads as another header's credential, or as one cache scope of all verified callers if the upstream receives nothing from them. */
function withUpstreamIdentity(read: Read, { config, upstream, keyOf }: KnownCallerOptions): Read {
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
  if (CREDENTIAL_KINDS[assertDefined(credential).kind].provesToken || config.verification === undefined) return read;
  // Tokens contain no spaces, so this is never a token's key.
  const cacheScope = keyOf(`everybody at ${upstream}`);
  return (caller, options) => read({ ...caller, cacheScope }, options);
}
