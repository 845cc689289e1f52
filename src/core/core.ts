import { isDeepStrictEqual } from 'node:util';
import { composeReads } from './compose-reads.ts';
import { collectIssues } from './config/config-error.ts';
import { callerValueNames } from './config/schema/caller-values.ts';
import { assertDefined, type Config, offeredIn } from './config/schema/settings.ts';
import { type Authenticate, createAuthenticate } from './credentials/authenticate.ts';
import { proxyAuthorization } from './credentials/authorize.ts';
import { type Hooks, NO_HOOKS, type Wrappers } from './hooks.ts';
import { CREDENTIAL_KINDS } from './kernel/credential-kinds.ts';
import type { Events } from './kernel/events.ts';
import { createUseCount, type UseCount } from './kernel/use-count.ts';
import { type Catalogue, createCatalogue } from './reads/catalogue/catalogue.ts';
import { createPageTurns } from './reads/catalogue/page-reader.ts';
import { createReloadState, namesInCache, type ReloadState } from './reload-state.ts';
import { RESOURCES } from './resources/index.ts';
import type { Resource } from './resources/resource.ts';
import { createSecretFiles, type SecretFiles, withFiles } from './secret-files.ts';
import { shareNothing } from './sharing.ts';
import { openUpstream } from './upstream/open-upstream.ts';
import type { Tap } from './upstream/upstream.ts';

type OpenUpstream = ReturnType<typeof openUpstream>;

interface CoreOptions {
  readonly events: Events;
  readonly now: () => number;
  /** @default `RESOURCES` */
  readonly resources?: readonly Resource[];
  /** @default opened for this core */
  readonly files?: SecretFiles | undefined;
  /** @default none */
  readonly hooks?: Wrappers &
    Pick<Hooks, 'sharing' | 'verifier' | 'credentials'> &
    Partial<Pick<Hooks, 'openConfirmation'>>;
  /** Throws further issues, which are reported together with those of files. @default none */
  readonly check?: (() => void) | undefined;
  /** Sees each exchange with an upstream, for `check --probe`. @default none */
  readonly tap?: Tap | undefined;
  /** The previous core, whose unchanged parts are kept. @default none */
  readonly before?: Core | undefined;
}

/** Catalogue and upstreams, shared by all edges. */
export interface Core extends Pick<UseCount, 'enter'> {
  readonly config: Config;
  readonly catalogue: Catalogue;
  readonly upstreams: ReadonlyMap<string, OpenUpstream>;
  readonly authenticate: Authenticate;
  /** Headers beside `Authorization` in which callers send credentials. */
  readonly credentialHeaders: readonly string[];
  readonly reloadState: ReloadState;
  /** Further headers of callers that select a list. */
  readonly forwardedHeaders: readonly string[];
  /**
   * Closes it when nothing uses it, at the latest after the longest request and the grace period: what is left is cut. Drops
   * snapshots that `next` reads differently.
   */
  retire(next: Core): Promise<void>;
  /** Closes the upstreams that no other core uses. */
  close(): Promise<void>;
}

/** Builds the catalogue. Sends no request. Throws `ConfigError`, without any change, if a file cannot be used. */
export function createCore(config: Config, options: CoreOptions): Core {
  const {
    events,
    now,
    resources = RESOURCES,
    hooks = NO_HOOKS,
    check,
    tap,
    before,
    files = createSecretFiles(options),
  } = options;
  const { sharing = shareNothing() } = hooks;
  const offered = offeredIn(config, resources);
  const used = [...new Set(offered.map(({ settings }) => settings.upstream))];
  const openings = upstreamOpenings(config, used, { events, hooks, tap, before, files, check });
  if (config.verification !== undefined && hooks.verifier === undefined) {
    throw new Error('settings verify tokens, and no capability does');
  }
  const upstreams = new Map(openings.map(([name, open]) => [name, open()]));
  const reloadState = before?.reloadState ?? createReloadState(config, events, sharing);
  const names = namesInCache(resources, config);
  const { keyOf } = reloadState;
  const pageTurns = createPageTurns();
  const users = createUseCount();

  const catalogue = createCatalogue(
    composeReads(config, offered, { resources, upstreams, reloadState, names, hooks, pageTurns, users, events, now }),
  );

  events.resourcesOffered?.({ resources: offered.map(({ resource }) => resource.name) });

  const { holders } = reloadState;
  for (const upstream of upstreams.values()) holders.set(upstream, (holders.get(upstream) ?? 0) + 1);

  /** Cores share unchanged upstreams, and each may end first: the last one closes them. */
  function release(upstream: OpenUpstream): Promise<void> | undefined {
    const left = (holders.get(upstream) ?? 1) - 1;
    holders.set(upstream, left);
    if (left > 0) return undefined;
    holders.delete(upstream);
    return upstream.close();
  }

  let closing: Promise<unknown> | undefined;

  async function close(): Promise<void> {
    closing ??= Promise.all(upstreams.values().map(release));
    await closing;
  }

  return {
    config,
    catalogue,
    upstreams,
    credentialHeaders: credentialHeadersIn(config, used),
    forwardedHeaders: callerValueNames(config).headers,
    authenticate: createAuthenticate({ verify: hooks.verifier && hooks.wrapVerify(hooks.verifier.verify), keyOf }),
    reloadState,
    enter: users.enter,
    async retire(next) {
      const kept = new Set(namesInCache(resources, next.config).values());
      const drop = () => {
        for (const name of names.values()) if (!kept.has(name)) reloadState.cache.drop(name);
      };
      drop();
      const { http, shutdown } = config;
      await users.whenIdle(Math.max(http.requestTimeoutMs, longestReadMs(config)) + shutdown.graceMs);
      // Pending loads have stored since.
      drop();
      await close();
    },
    close,
  };
}

/** Headers beside `Authorization` in which callers send credentials for these upstreams. */
function credentialHeadersIn({ upstreams }: Config, names: readonly string[]): string[] {
  const found = names.flatMap((name) => {
    const credential = upstreams[name]?.credential;
    return credential?.kind === 'header' ? (credential.from ?? []) : [];
  });
  return [...new Set(found)];
}

/** Upper bound of a read. */
export function longestReadMs({ upstreams }: Config): number {
  return Math.max(...Object.values(upstreams).map(({ timeoutMs }) => timeoutMs));
}

interface OpeningsOptions extends Pick<CoreOptions, 'events' | 'tap' | 'before' | 'check'> {
  readonly files: SecretFiles;
  readonly hooks: Pick<Hooks, 'wrapClient' | 'credentials'>;
}

/**
 * Opens the files of these upstreams, and returns what opens each that is not open with the same settings. A closure of its own would
 * keep `before` in memory, and with it all cores before that.
 */
function upstreamOpenings(
  config: Config,
  names: readonly string[],
  { events, hooks, files, tap, before, check = () => {} }: OpeningsOptions,
): (readonly [name: string, open: () => OpenUpstream])[] {
  const { wrapClient } = hooks;
  function opening(name: string): readonly [string, () => OpenUpstream] {
    const settings = assertDefined(config.upstreams[name]);
    const running = before?.upstreams.get(name);
    if (running !== undefined && isDeepStrictEqual(before?.config.upstreams[name], settings)) {
      return [name, () => running];
    }
    const facts = CREDENTIAL_KINDS[settings.credential.kind];
    const [authorization, tlsFiles] = collectIssues([
      () => files.authorization(name, settings, hooks),
      () => files.upstreamTls(name, settings),
    ]);
    const tls = withFiles(settings.tls, tlsFiles);
    const proxy = settings.proxy && { url: settings.proxy.url, authorize: proxyAuthorization(settings.proxy) };
    const shared = { events, tap, wrapClient };
    return [name, () => openUpstream({ ...settings, ...facts, ...authorization, ...shared, name, tls, proxy })];
  }

  const [openings] = collectIssues([() => collectIssues(names.map((name) => () => opening(name))), check]);
  return openings;
}
