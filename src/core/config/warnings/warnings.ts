import type { Resource } from '../../resources/resource.ts';
import type { Finding } from '../config-error.ts';
import { type Config, isNameless, resourceConfig } from '../schema/settings.ts';
import { blockOf, type SettingsSlice } from '../settings-slice.ts';
import { warnOfExpressions } from './expression-warnings.ts';
import { warnOfVerification } from './verification-warnings.ts';
import type { Warning, Written } from './warning.ts';

/** Returns warnings about valid settings that are probably mistakes. */
export function warningsOf(
  config: Config,
  resources: readonly Resource[],
  isWritten: Written['isWritten'],
  slices: readonly SettingsSlice[] = [],
): Finding[] {
  const offered = resources
    .map((resource) => ({ resource, settings: resourceConfig(config, resource) }))
    .filter(({ settings }) => settings.enabled);
  const findings: Finding[] = [];
  for (const check of WARNINGS) {
    check({ config, offered, isWritten, slices }, (path, message) => findings.push({ path, message }));
  }
  return findings;
}

/** Keys that are set only if the platform does not follow the default contract: its paging is then different, too. */
const OF_ANOTHER_CONTRACT = ['path', 'items', 'where', 'fields'];

const warnOfPaging: Warning = ({ offered, isWritten }, warn) => {
  for (const { resource } of offered) {
    const path = ['resources', resource.name];
    const isOther = OF_ANOTHER_CONTRACT.some((key) => isWritten([...path, key]));
    if (!isOther || isWritten([...path, 'pagination'])) continue;
    warn(
      path,
      'pagination is not set, so the default { kind: token } applies: set the paging of this platform, or { kind: none } if it has none',
    );
  }
};

const warnOfAddress: Warning = ({ config: { publicUrl } }, warn) => {
  if (publicUrl?.endsWith('/mcp') !== true) return;
  const message = 'ends with /mcp, and MCP is at /mcp below it: leave that off, unless clients are to ask for /mcp/mcp';
  warn(['publicUrl'], message);
};

/** A page gains little here, whose token would have to be verified: settings of before stay valid. */
const warnOfHosts: Warning = ({ config: { http, publicUrl } }, warn) => {
  if (!isNameless(http, publicUrl)) return;
  warn(['http', 'host'], 'any Host is answered for, also the name of a web page: set http.allowedHosts or publicUrl');
};

const warnOfIdleBlocks: Warning = ({ config, slices, isWritten }, warn) => {
  for (const slice of slices) {
    const { key } = slice;
    if (Object(blockOf(config, slice)).enabled !== false) continue;
    if (isWritten([key]) && !isWritten([key, 'enabled'])) warn([key], 'does nothing without enabled: true');
  }
};

/** What many an API has at the end of its address, or at the beginning of each path: seldom both. */
const VERSION = /^(?:api|v\d[\w.-]*)$/i;

const warnOfVersions: Warning = ({ config: { upstreams }, offered, isWritten }, warn) => {
  for (const {
    resource: { name },
    settings: { upstream, path },
  } of offered) {
    const last = new URL(upstreams[upstream]?.baseUrl ?? '').pathname.split('/').at(-1);
    const first = path.split('/')[1] ?? '';
    if (last !== first || !VERSION.test(first)) continue;
    const message = `both are sent, as /${first}/${first}: leave one of them off`;
    const at = ['resources', name, 'path'];
    if (isWritten(at)) warn(at, `begins as baseUrl of ${upstream} ends, and ${message}`);
    else warn(['upstreams', upstream, 'baseUrl'], `ends as the path of ${name} begins, and ${message}`);
  }
};

/** Names of this machine, and hosts at which a listener has its loopback addresses, too. */
const LOOPBACK: readonly string[] = ['localhost', '127.0.0.1', '[::1]'];
const HERE: readonly string[] = ['localhost', '127.0.0.1', '::1', '0.0.0.0', '::'];

const warnOfLoops: Warning = ({ config: { http, upstreams }, offered }, warn) => {
  if (http.socketPath !== undefined || !HERE.includes(http.host)) return;
  for (const name of new Set(offered.map(({ settings }) => settings.upstream))) {
    const { hostname, port } = new URL(upstreams[name]?.baseUrl ?? '');
    if (!LOOPBACK.includes(hostname) || port !== String(http.port)) continue;
    const message = 'seems to be this gateway itself, by http.port: each read would ask it for another one';
    warn(['upstreams', name, 'baseUrl'], message);
  }
};

const WARNINGS: readonly Warning[] = [
  ...[warnOfPaging, warnOfExpressions, warnOfAddress, warnOfHosts, warnOfIdleBlocks, warnOfVersions, warnOfLoops],
  warnOfVerification,
];
