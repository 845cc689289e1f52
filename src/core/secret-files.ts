import { ConfigError, collectIssues } from './config/config-error.ts';
import type { Config } from './config/schema/settings.ts';
import { type Authorization, openAuthorization, proxyAuthorization } from './credentials/authorize.ts';
import { openTlsFiles, type TlsFiles, type TlsPaths } from './credentials/files/tls-files.ts';
import { UnusableFile } from './credentials/files/watched-files.ts';
import { type Hooks, NO_HOOKS } from './hooks.ts';
import { CREDENTIAL_KINDS } from './kernel/credential-kinds.ts';
import type { Events } from './kernel/events.ts';
import { openServer } from './upstream/open-upstream.ts';

type UpstreamConfig = Config['upstreams'][string];

/** Opens the secrets, certificates and keys that settings name by path. */
export type SecretFiles = ReturnType<typeof createSecretFiles>;

/** Opens files of a block of settings. Throws `ConfigError` for one that cannot be used. */
export function openFilesOf<Opened>(block: readonly string[], open: () => Opened): Opened {
  try {
    return open();
  } catch (error) {
    if (!(error instanceof UnusableFile)) throw error;
    throw new ConfigError([{ path: [...block, ...error.key.split('.')], message: error.issue }]);
  }
}

/** `now`: milliseconds since the epoch. Each throws `ConfigError` for a file that cannot be used. */
export function createSecretFiles({ events, now }: { readonly events: Events; readonly now: () => number }) {
  function tls(path: readonly string[], paths: TlsPaths | undefined, mustBeValid = false): TlsFiles | undefined {
    if (paths === undefined) return undefined;
    const block = path.join('.');
    const onChange = (unusable?: UnusableFile) =>
      events.tlsFilesChanged?.({ block, key: unusable?.key, issue: unusable?.issue });
    return openFilesOf(path, () => openTlsFiles(paths, { now, onChange, mustBeValid }));
  }

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
      const onChange = (unusable?: UnusableFile) => events.secretChanged?.({ upstream, issue: unusable?.issue });
      return openFilesOf(credentialBlock(upstream, settings), () =>
        openAuthorization(credential, {
          ...{ upstream, events, now, onChange, credentials },
          openServer: (own) => openServer({ ...settings, ...own, ...serverOf(upstream, settings), events, wrapClient }),
        }),
      );
    },
    upstreamTls: (upstream: string, settings: UpstreamConfig) => tls(['upstreams', upstream, 'tls'], settings.tls),
    listenerTls(listener: 'http' | 'admin', { http, admin }: Config) {
      if (listener === 'http') return tls(['http', 'tls'], http.tls, true);
      return admin.enabled ? tls(['admin', 'tls'], admin.tls, true) : undefined;
    },
  };
}

function credentialBlock(upstream: string, { credential }: UpstreamConfig): string[] {
  return ['upstreams', upstream, 'credential', ...('client' in credential ? ['client'] : [])];
}

export function withFiles<Settings>(settings: Settings | undefined, files: TlsFiles | undefined) {
  return settings && files && { ...settings, files };
}

/** Opens all files in use, to check them. Throws `ConfigError`. */
export function checkSecretFiles(config: Config): void {
  const files = createSecretFiles({ events: {}, now: Date.now });
  collectIssues([
    ...upstreamsInUse(config).flatMap(([name, settings]) => [
      // A capability checks the files that it opens.
      () => CREDENTIAL_KINDS[settings.credential.kind].obtainsToken || files.authorization(name, settings),
      () => files.upstreamTls(name, settings),
    ]),
    () => files.listenerTls('http', config),
    () => files.listenerTls('admin', config),
  ]);
}

/** Returns the upstreams of resources that are offered. */
export function upstreamsInUse({ upstreams, resources }: Config): (readonly [string, UpstreamConfig])[] {
  const used = new Set(Object.values(resources).map(({ enabled, upstream }) => enabled && upstream));
  return Object.entries(upstreams).filter(([name]) => used.has(name));
}
