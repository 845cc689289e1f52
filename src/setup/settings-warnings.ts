import type { Finding } from '../core/config/config-error.ts';
import { type Config, isNameless, offeredIn, type ResourceConfig } from '../core/config/schema/settings.ts';
import { blockOf, type SettingsSlice } from '../core/config/settings-slice.ts';
import type { Resource } from '../core/resources/resource.ts';
import { type BareName, bareNamesOf } from './bare-names.ts';

interface Written {
  readonly config: Config;
  readonly offered: readonly { readonly resource: Resource; readonly settings: ResourceConfig }[];
  /** Whether the file sets a path: in `config`, defaults are already filled in. */
  readonly isWritten: (path: readonly string[]) => boolean;
  readonly slices: readonly SettingsSlice[];
}

/** Reports settings that are valid and most likely a mistake, each at its path. */
type Warning = (settings: Written, warn: (path: readonly string[], message: string) => void) => void;

export function settingsWarnings(
  config: Config,
  resources: readonly Resource[],
  isWritten: Written['isWritten'],
  slices: readonly SettingsSlice[] = [],
): Finding[] {
  const offered = offeredIn(config, resources);
  const findings: Finding[] = [];
  for (const check of WARNINGS) {
    check({ config, offered, isWritten, slices }, (path, message) => findings.push({ path, message }));
  }
  return findings;
}

/** Keys that are set only if the platform does not follow the default contract. */
const OF_ANOTHER_CONTRACT = ['path', 'items', 'where', 'fields'];

const warnOfPaging: Warning = ({ offered, isWritten }, warn) => {
  for (const { resource } of offered) {
    const path = ['resources', resource.name];
    const isOther = OF_ANOTHER_CONTRACT.some((key) => isWritten([...path, key]));
    if (!isOther || isWritten([...path, 'pagination'])) continue;
    warn(
      path,
      'pagination is not set, so the default { kind: token } applies: set the pagination of this platform, or { kind: none } if lists are not paged',
    );
  }
};

/** Warning, not an issue: a page gains little where its token is verified. */
const warnOfHosts: Warning = ({ config: { http, publicUrl } }, warn) => {
  if (!isNameless(http, publicUrl)) return;
  warn(['http', 'host'], 'any Host is accepted, which allows DNS rebinding: set http.allowedHosts or publicUrl');
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

/** No platform has fields of these names. */
const NO_FIELDS: ReadonlySet<string> = new Set([
  ...['true', 'false', 'null', 'none', 'other', 'others', 'unknown', 'undefined', 'unspecified', 'uncategorized'],
  ...['uncategorised', 'misc', 'miscellaneous', 'untitled', 'unnamed'],
]);

/** Kinds and states, which may be fields, too. */
const KINDS: ReadonlySet<string> = new Set([
  ...['active', 'inactive', 'enabled', 'disabled', 'installed', 'paused', 'running', 'manual', 'scheduled'],
  ...['automatic', 'automated', 'general', 'default', 'custom'],
]);

/** Names of {@link KINDS} that are seldom fields. */
const SELDOM_FIELDS: ReadonlySet<string> = new Set(['manual', 'automatic', 'general']);

const CAPITALS = /^[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)*$/;

const warnOfExpressions: Warning = ({ offered, isWritten }, warn) => {
  for (const { resource, settings } of offered) {
    const { items, where, pagination, fields } = settings;
    const path = ['resources', resource.name];
    const check = (at: readonly string[], expression: string | undefined, isText: IsText = () => false) => {
      for (const message of messagesFor(expression, String(at.at(-1)), isText)) warn(at, message);
    };
    check([...path, 'items'], items);
    check([...path, 'pagination', 'next'], 'next' in pagination ? pagination.next : undefined);
    check([...path, 'pagination', 'total'], pagination.total);
    check([...path, 'where'], where);
    for (const [field, { from, values }] of Object.entries(fields)) {
      const at = [...path, 'fields', field];
      const isKind = resource.filters.includes(field);
      const isMapped = Object.keys(values).length > 0;
      const isText: IsText = (name) => name.name !== field && looksLikeText(name, isKind, isMapped);
      check(isWritten([...at, 'from']) ? [...at, 'from'] : at, from, isText);
    }
  }
};

type IsText = (name: BareName) => boolean;

function messagesFor(expression: string | undefined, key: string, isText: IsText): string[] {
  if (expression === undefined) return [];
  return bareNamesOf(expression)
    .filter((name) => name.as === 'compared' || isText(name))
    .map((name) => describe(name, key));
}

/** `isKind`: the field distinguishes kinds of items. `isMapped`: its text comes from the platform. */
function looksLikeText({ name, as }: BareName, isKind: boolean, isMapped: boolean): boolean {
  const word = name.toLowerCase();
  if (NO_FIELDS.has(word)) return true;
  if (!isKind) return false;
  if (as === 'fallback') return KINDS.has(word) || CAPITALS.test(name);
  return !isMapped && (SELDOM_FIELDS.has(word) || CAPITALS.test(name));
}

function describe({ name, as, written, quoted }: BareName, key: string): string {
  // Alone, a text needs quotes of YAML around its own.
  const meant = as === 'value' ? `${key}: "${quoted}"` : quoted;
  const cure = `write ${meant} for the value, or @.${name} for the field`;
  return as === 'compared'
    ? `${written} compares two fields, not a field with the value ${name}: ${cure}`
    : `${name} is a field name here, not the value ${name}: ${cure}`;
}

const WARNINGS: readonly Warning[] = [
  ...[warnOfPaging, warnOfExpressions, warnOfHosts, warnOfIdleBlocks, warnOfVerification],
];
