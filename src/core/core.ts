import { type Config, resourceConfig } from './config/schema/settings.ts';
import { type Authenticate, createAuthenticate } from './credentials/authenticate.ts';
import { carriedOver, createHoldings, type Holdings } from './holdings.ts';
import { type Hooks, NO_HOOKS, type Wrappers } from './hooks.ts';
import type { Events } from './kernel/events.ts';
import { createUsers, type Users } from './kernel/users.ts';
import { openReads } from './open-reads.ts';
import { type OpenUpstream, openUpstreams } from './open-upstreams.ts';
import { createOwnFiles, type OwnFiles } from './own-files.ts';
import { type Catalogue, createCatalogue } from './reads/catalogue/catalogue.ts';
import { createPageDesk } from './reads/catalogue/page-desk.ts';
import { otherCredentialsIn } from './reads/known-callers.ts';
import { RESOURCES } from './resources/index.ts';
import type { Resource } from './resources/resource.ts';
import { shareNothing } from './sharing.ts';
import type { Tap } from './upstream/client/tap.ts';

export interface CoreOptions {
  readonly events: Events;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** The registry that the settings were checked for. @default `RESOURCES` */
  readonly resources?: readonly Resource[];
  /** Opens the files that settings name. @default others have been opened by nobody */
  readonly files?: OwnFiles | undefined;
  /** @default none */
  readonly hooks?: Wrappers & Pick<Hooks, 'sharing' | 'verifier'>;
  /** Sees each exchange with an upstream as it is. @default none */
  readonly tap?: Tap | undefined;
  /** The core so far, of which this one takes over what settings leave as it was. @default none */
  readonly before?: Core | undefined;
}

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
  const {
    events,
    now,
    resources = RESOURCES,
    hooks = NO_HOOKS,
    tap,
    before,
    files = createOwnFiles(options),
  } = options;
  const { sharing = shareNothing() } = hooks;
  const offered = resources
    .map((resource) => ({ resource, settings: resourceConfig(config, resource) }))
    .filter(({ settings }) => settings.enabled);
  if (config.verification !== undefined && hooks.verifier === undefined) {
    throw new Error('settings verify tokens, and no capability does');
  }
  const upstreams = openUpstreams(
    config,
    offered.map(({ settings }) => settings.upstream),
    { events, hooks, tap, before, files, rejections: sharing.rejections },
  );
  const holdings =
    before === undefined
      ? createHoldings(config, { resources, events, keyOf: sharing.keyOf, store: sharing.snapshots })
      : carriedOver(before.holdings, { from: before.config, to: config, resources });
  const { keyOf } = holdings;
  const desk = createPageDesk(Math.max(...Object.values(config.upstreams).map(({ maxPageBytes }) => maxPageBytes)));
  const users = createUsers();

  const catalogue = createCatalogue(
    openReads(config, offered, { upstreams, holdings, hooks, desk, users, events, now }),
  );

  events.resourcesOffered?.({ resources: offered.map(({ resource }) => resource.name) });

  /** All upstreams but those that another core has taken over. */
  function endingBefore(next: Core | undefined) {
    const kept = new Set<unknown>(next?.upstreams.values());
    return [...upstreams.values()].filter((one) => !kept.has(one));
  }

  // The error with which an upstream ends holds the functions that were being called, and what these hold: nothing of the next
  // core may be among that, or each one would hold all that came after it.
  async function close(next?: Core): Promise<void> {
    await Promise.all([desk.close(), ...endingBefore(next).map((one) => one.close())]);
  }

  const otherCredentials = otherCredentialsIn(
    config,
    offered.map(({ settings }) => settings.upstream),
  );
  return {
    config,
    catalogue,
    upstreams,
    otherCredentials,
    authenticate: createAuthenticate({ verify: hooks.verifier && hooks.wrapVerify(hooks.verifier.verify), keyOf }),
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
    close,
  };
}
