import type { Finding } from '../core/config/config-error.ts';
import type { LoadedConfig } from '../core/config/load-config.ts';
import { acceptsAnyHost } from '../core/config/schema/cross-checks.ts';
import { offeredIn } from '../core/config/schema/settings.ts';
import { blockOf, type SettingsSlice } from '../core/config/settings-slice.ts';
import type { Resource } from '../core/resources/resource.ts';
import { keysIn, SECRET_NAME, SECRETS } from './effective-settings.ts';
import { operatorWarnings, valueWarnings } from './expression-warnings.ts';
import { listBlocks } from './list-blocks.ts';

interface Written extends Pick<LoadedConfig, 'config' | 'isWritten' | 'isFromEnvironment'> {
  readonly offered: ReturnType<typeof offeredIn>;
  readonly slices: readonly SettingsSlice[];
}

/** Reports settings that are valid and most likely a mistake, each at its path. */
type Warning = (settings: Written, warn: (path: Finding['path'], message: string) => void) => void;

export function settingsWarnings(
  loaded: Pick<LoadedConfig, 'config' | 'isWritten' | 'isFromEnvironment'>,
  resources: readonly Resource[],
  slices: readonly SettingsSlice[],
): Finding[] {
  const settings = { ...loaded, offered: offeredIn(loaded.config, resources), slices };
  const findings: Finding[] = [];
  for (const check of WARNINGS) check(settings, (path, message) => findings.push({ path, message }));
  return findings;
}

/** Keys that are set only if the platform does not follow the default contract. */
const OF_ANOTHER_CONTRACT = ['path', 'items', 'where', 'fields'];

const warnOfPaging: Warning = ({ offered, isWritten }, warn) => {
  for (const { resource, settings } of offered) {
    const [[path], ...others] = listBlocks(resource.name, settings);
    const isOther = settings.lists === undefined && OF_ANOTHER_CONTRACT.some((key) => isWritten([...path, key]));
    for (const at of [...(isOther ? [path] : []), ...others.map(([other]) => other)]) {
      // A list that is joined has the pagination of its resource.
      if (isWritten([...at, 'pagination']) || (at[2] === 'lists' && isWritten([...path, 'pagination']))) continue;
      warn(
        at,
        'pagination is not set, so the default { kind: token } applies: set the pagination of this platform, or { kind: none } if lists are not paged',
      );
    }
  }
};

/** Warning, not an issue: a page gains little where its token is verified. */
const warnOfHosts: Warning = ({ config: { http, publicUrl } }, warn) => {
  if (!acceptsAnyHost(http, publicUrl)) return;
  warn(['http', 'host'], 'any Host is accepted, which allows DNS rebinding: set http.allowedHosts or publicUrl');
};

/** Most likely the address of MCP is meant. The default audience of tokens follows from it. */
const warnOfPublicUrl: Warning = ({ config: { publicUrl } }, warn) => {
  if (publicUrl?.endsWith('/mcp')) warn(['publicUrl'], 'ends with /mcp, so MCP is at /mcp/mcp: leave /mcp out');
};

/** An audit that is off must not pass for one that is on. */
const warnOfIdleBlocks: Warning = ({ config, slices, isWritten }, warn) => {
  for (const slice of slices) {
    const { key } = slice;
    if (Object(blockOf(config, slice)).enabled !== false) continue;
    if (isWritten([key]) && !isWritten([key, 'enabled'])) warn([key], 'has no effect without enabled: true');
  }
};

const warnOfVerification: Warning = ({ config, offered, isWritten }, warn) => {
  const { verification, upstreams } = config;
  if (verification === undefined) return;
  for (const name of new Set(offered.map((each) => each.settings.upstream))) {
    const isGivenToken = upstreams[name]?.credential.kind === 'passthrough';
    if (!isGivenToken || isWritten(['upstreams', name, 'credential'])) continue;
    warn(
      ['upstreams', name],
      "credential is not set, so the caller's token is forwarded to this platform, which MCP forbids a server that verifies it: set credential: { kind: passthrough } if this is intended",
    );
  }
};

/** Names that lead to a host beyond the own network. */
const PUBLIC_NAME = /\.(?!(?:internal|lan|local|localhost|svc|test)$)[a-z][^.]*$/i;

/** A platform that redirects to https has received the token by then. */
const warnOfPlainHttp: Warning = ({ config }, warn) => {
  for (const [name, { baseUrl, credential }] of Object.entries(config.upstreams)) {
    if (credential.kind === 'none' || !/^http:/i.test(baseUrl) || !PUBLIC_NAME.test(new URL(baseUrl).hostname))
      continue;
    warn(['upstreams', name, 'baseUrl'], 'has no TLS, so tokens and lists can be read on the way: write https');
  }
};

/** Calls `check` with each value below `value`, and its path. */
function visit(value: unknown, check: (value: unknown, path: readonly string[]) => void, path: readonly string[] = []) {
  check(value, path);
  if (typeof value !== 'object' || value === null) return;
  for (const [key, child] of Object.entries(value)) visit(child, check, [...path, key]);
}

/** 30 is most likely meant as seconds: every read would time out, or every shutdown cut off requests. */
const warnOfSeconds: Warning = ({ config, isWritten }, warn) =>
  visit(config, (value, path) => {
    const isTime = typeof value === 'number' && value > 0 && value < 100 && path.at(-1)?.endsWith('Ms');
    if (isTime && isWritten(path)) warn(path, `is in milliseconds: ${value} s are ${value}000`);
  });

/** Settings files are copied, and kept in repositories. */
const warnOfSecrets: Warning = ({ config, isWritten, isFromEnvironment }, warn) =>
  visit({ upstreams: config.upstreams, verification: config.verification }, (value, path) => {
    if (typeof value !== 'string' || !isWritten(path)) return;
    const name = path.at(-1) ?? '';
    // The body of a login has names of the platform.
    const isNamed = SECRETS.includes(name) || (path[3] === 'body' && SECRET_NAME.test(name));
    const isHeader = path[2] === 'headers' && SECRET_NAME.test(name) && keysIn(value).length > 0;
    if (isFromEnvironment(path)) {
      // As tools that read no shell syntax leave them: docker run --env-file.
      if (/^(["']).*\1$/.test(value)) warn(path, 'is in quotes, which are sent, too: remove them');
    } else if (/^\$[A-Z_]\w*$/.test(value)) {
      warn(path, 'is used as it is written: a variable of the environment is "${NAME}"');
    } else if (isHeader || (isNamed && !value.startsWith('{'))) {
      warn(path, 'is written in the file: take it from the environment, as "${NAME}", or from a file');
    }
  });

const warnOfExpressions: Warning = ({ offered, isWritten }, warn) => {
  for (const { resource, settings } of offered) {
    const path = ['resources', resource.name];
    const check = (at: Finding['path'], expression: string | undefined) => {
      const messages = expression === undefined ? [] : operatorWarnings(expression);
      if (messages.length > 0) warn(at, messages.join('; '));
    };
    for (const [at, { id, items, where, pagination }] of listBlocks(resource.name, settings)) {
      check([...at, 'items'], items);
      check([...at, 'id'], id);
      check([...at, 'pagination', 'next'], pagination && 'next' in pagination ? pagination.next : undefined);
      check([...at, 'pagination', 'total'], pagination?.total);
      check([...at, 'where'], where);
    }
    for (const [field, { from, values }] of Object.entries(settings.fields)) {
      const key = [...path, 'fields', field];
      const at = isWritten([...key, 'from']) ? [...key, 'from'] : key;
      check(at, from);
      const isKind = resource.filters.includes(field) && Object.keys(values).length === 0;
      for (const message of valueWarnings(from, field, isKind)) warn(at, message);
    }
  }
};

const WARNINGS: readonly Warning[] = [
  ...[warnOfPaging, warnOfExpressions, warnOfHosts, warnOfPublicUrl, warnOfIdleBlocks],
  ...[warnOfVerification, warnOfPlainHttp, warnOfSeconds, warnOfSecrets],
];
