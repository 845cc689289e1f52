import { ConfigError, collectIssues, dottedPath } from './config/config-error.ts';
import type { Config } from './config/schema/settings.ts';
import { type Authorization, openAuthorization, proxyAuthorization } from './credentials/authorize.ts';
import { openTlsFiles, type TlsFiles, type TlsPaths } from './credentials/files/tls-files.ts';
import { UnusableFile, type WatchOptions } from './credentials/files/watched-files.ts';
import { type Hooks, NO_HOOKS } from './hooks.ts';
import type { Events } from './kernel/events.ts';
import { openServer } from './upstream/open-upstream.ts';

type UpstreamConfig = Config['upstreams'][string];

/** Opens the secrets, certificates and keys that settings name by path. */
export type SecretFiles = ReturnType<typeof createSecretFiles>;

/** TLS files of the listeners. */
export interface ListenerFiles {
  readonly http?: TlsFiles | undefined;
  readonly admin?: TlsFiles | undefined;
}

/** Events and clock of open files. `now`: milliseconds since the epoch. */
interface FilesContext {
  readonly events: Events;
  readonly now: () => number;
}

/** Opens files of a block of settings, whose changes are events. Throws `ConfigError` for one that cannot be used. */
export function openFilesOf<Opened>(
  block: readonly string[],
  { events, now }: FilesContext,
  open: (options: WatchOptions) => Opened,
): Opened {
  const unusable = new Map<object, UnusableFile>();
  function onChange(found: UnusableFile | undefined, group: object): void {
    if (found === undefined) unusable.delete(group);
    else unusable.set(group, found);
    const [first] = unusable.values();
    events.filesChanged?.({ block: dottedPath(block), key: first?.key, issue: first?.issue });
  }

  try {
    return open({ now, onChange });
  } catch (error) {
    if (!(error instanceof UnusableFile)) throw error;
    throw new ConfigError([{ path: [...block, ...error.key.split('.')], message: error.issue }]);
  }
}

/** Each throws `ConfigError` for a file that cannot be used. */
export function createSecretFiles(context: FilesContext) {
  const { events } = context;
  const tls = (block: readonly string[], paths: TlsPaths | undefined, mustBeValid = false): TlsFiles | undefined =>
    paths && openFilesOf(block, context, (options) => openTlsFiles(paths, { ...options, mustBeValid }));

  /** The connection to an authorization server has settings of its own; a session is opened at the platform itself. */
  function serverOf(upstream: string, settings: UpstreamConfig) {
    const { credential } = settings;
    const { tls: paths, proxy } = 'client' in credential ? credential : settings;
    const block = 'client' in credential ? ['credential', 'tls'] : ['tls'];
    return {
      // No upstream has such a name.
      name: `${upstream}.${credential.kind}`,
      tls: withFiles(paths, tls(['upstreams', upstream, ...block], paths)),
      proxy: proxy && { url: proxy.url, authorize: proxyAuthorization(proxy) },
    };
  }

  return {
    authorization(
      upstream: string,
      settings: UpstreamConfig,
      { wrapClient, credentials }: Pick<Hooks, 'wrapClient' | 'credentials'> = NO_HOOKS,
    ): Authorization {
      const { credential } = settings;
      return openFilesOf(credentialBlock(upstream, settings), context, (options) =>
        openAuthorization(credential, {
          ...{ ...options, upstream, events, credentials },
          openServer: (own) => openServer({ ...settings, ...own, ...serverOf(upstream, settings), events, wrapClient }),
        }),
      );
    },
    upstreamTls: (upstream: string, settings: UpstreamConfig) => tls(['upstreams', upstream, 'tls'], settings.tls),
    listenerTls({ http, admin }: Config): ListenerFiles {
      const [ofHttp, ofAdmin] = collectIssues([
        () => tls(['http', 'tls'], http.tls, true),
        () => (admin.enabled ? tls(['admin', 'tls'], admin.tls, true) : undefined),
      ]);
      return { http: ofHttp, admin: ofAdmin };
    },
  };
}

function credentialBlock(upstream: string, { credential }: UpstreamConfig): string[] {
  return ['upstreams', upstream, 'credential', ...('client' in credential ? ['client'] : [])];
}

export function withFiles<Settings>(settings: Settings | undefined, files: TlsFiles | undefined) {
  return settings && files && { ...settings, files };
}

/** Returns the upstreams of resources that are offered. */
export function upstreamsInUse({ upstreams, resources }: Config): (readonly [string, UpstreamConfig])[] {
  const used = new Set(Object.values(resources).map(({ enabled, upstream }) => enabled && upstream));
  return Object.entries(upstreams).filter(([name]) => used.has(name));
}
