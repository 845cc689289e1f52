import type { Resource } from '../resources/resource.ts';
import type { Finding } from './check-settings.ts';
import type { ConfigIssue } from './mistakes/config-error.ts';
import { type Config, isNameless, type ResourceConfig } from './schema/settings.ts';
import { blockOf, type SettingsSlice } from './settings-slice.ts';

type Path = ConfigIssue['path'];
type IsWritten = (path: Path) => boolean;

interface Offered {
  readonly resource: Resource;
  readonly settings: ResourceConfig;
}

/** What many an API has at the end of its address, or at the beginning of each path: seldom both. */
const VERSION = /^(?:api|v\d[\w.-]*)$/i;

/** Settings that are right each, and beside each other most likely not what was meant. */
export function combinationWarnings(
  config: Config,
  offered: readonly Offered[],
  isWritten: IsWritten,
  slices: readonly SettingsSlice[],
): Finding[] {
  return [
    ...addressWarnings(config),
    ...hostWarnings(config),
    ...idleWarnings(config, isWritten, slices),
    ...loopWarnings(config, offered),
    ...loadingWarnings(config, offered, isWritten),
    ...offered.flatMap(({ resource, settings }) => versionWarnings(config, resource, settings, isWritten)),
  ];
}

function addressWarnings({ publicUrl }: Config): Finding[] {
  if (publicUrl?.endsWith('/mcp') !== true) return [];
  const message = 'ends with /mcp, and MCP is at /mcp below it: leave that off, unless clients are to ask for /mcp/mcp';
  return [{ path: ['publicUrl'], key: false, message }];
}

/** A page gains little here, whose token would have to be verified: settings of before stay valid. */
function hostWarnings(config: Config): Finding[] {
  if (!isNameless(config.http, config.publicUrl)) return [];
  const message = 'any Host is answered for, also the name of a web page: set http.allowedHosts or publicUrl';
  return [{ path: ['http', 'host'], key: false, message }];
}

/** Blocks that have no effect until they are enabled, written without `enabled`. */
function idleWarnings(config: Config, isWritten: IsWritten, slices: readonly SettingsSlice[]): Finding[] {
  const isOff = (slice: SettingsSlice) => Object(blockOf(config, slice)).enabled === false;
  return slices
    .filter(isOff)
    .map(({ key }) => key)
    .filter((block) => isWritten([block]) && !isWritten([block, 'enabled']))
    .map((block) => ({ path: [block], key: true, message: 'does nothing without enabled: true' }));
}

function versionWarnings(
  { upstreams }: Config,
  { name }: Resource,
  { upstream, path }: ResourceConfig,
  isWritten: IsWritten,
): Finding[] {
  const last = new URL(upstreams[upstream]?.baseUrl ?? '').pathname.split('/').at(-1);
  const first = path.split('/')[1] ?? '';
  if (last !== first || !VERSION.test(first)) return [];
  const message = `both are sent, as /${first}/${first}: leave one of them off`;
  return isWritten(['resources', name, 'path'])
    ? [
        {
          path: ['resources', name, 'path'],
          key: false,
          message: `begins as baseUrl of ${upstream} ends, and ${message}`,
        },
      ]
    : [
        {
          path: ['upstreams', upstream, 'baseUrl'],
          key: false,
          message: `ends as the path of ${name} begins, and ${message}`,
        },
      ];
}

/** Names of this machine, and hosts at which a listener has its loopback addresses, too. */
const LOOPBACK: readonly string[] = ['localhost', '127.0.0.1', '[::1]'];
const HERE: readonly string[] = ['localhost', '127.0.0.1', '::1', '0.0.0.0', '::'];

function loopWarnings({ http, upstreams }: Config, offered: readonly Offered[]): Finding[] {
  if (http.socketPath !== undefined || !HERE.includes(http.host)) return [];
  const message = 'seems to be this gateway itself, by http.port: each read would ask it for another one';
  return [...new Set(offered.map(({ settings }) => settings.upstream))]
    .filter((name) => {
      const { hostname, port } = new URL(upstreams[name]?.baseUrl ?? '');
      return LOOPBACK.includes(hostname) && port === String(http.port);
    })
    .map((name) => ({ path: ['upstreams', name, 'baseUrl'], key: false, message }));
}

/** What keeps any page of an upstream from being read that is as large as it may be. */
function loadingWarnings({ upstreams, maxLoadingBytes }: Config, offered: readonly Offered[], isWritten: IsWritten) {
  const message = 'a page may be larger than maxLoadingBytes, which all reads have together: it then fails its read';
  return [...new Set(offered.map(({ settings }) => settings.upstream))]
    .filter((name) => (upstreams[name]?.maxPageBytes ?? 0) > maxLoadingBytes)
    .map((name) => ['upstreams', name, 'maxPageBytes'])
    .map((path) => ({ path: isWritten(path) ? path : ['maxLoadingBytes'], key: false, message }));
}
