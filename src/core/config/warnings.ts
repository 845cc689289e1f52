import { type BareName, bareNamesOf, type JoinedNames, joinedNamesOf } from '../mapping/expressions/bare-names.ts';
import type { Resource } from '../resources/resource.ts';
import type { Finding } from './check-settings.ts';
import { combinationWarnings } from './combinations.ts';
import type { ConfigIssue } from './mistakes/config-error.ts';
import { type Config, type ResourceConfig, resourceConfig } from './schema/settings.ts';
import type { SettingsSlice } from './settings-slice.ts';

type Path = ConfigIssue['path'];
type IsWritten = (path: Path) => boolean;

/** Keys that are set only if the platform does not follow the default contract: its paging is then different, too. */
const OF_ANOTHER_CONTRACT = ['path', 'items', 'where', 'fields'];

/** Words for what has no other kind, name or text: no platform calls a field so. */
const NO_FIELDS: ReadonlySet<string> = new Set([
  ...['true', 'false', 'null', 'none', 'other', 'others', 'unknown', 'undefined', 'unspecified', 'uncategorized'],
  ...['uncategorised', 'misc', 'miscellaneous', 'untitled', 'unnamed'],
]);

/** Kinds and states, which may be fields, too: `enabled` is, where it is mapped by `values`. */
const KINDS: ReadonlySet<string> = new Set([
  ...['active', 'inactive', 'enabled', 'disabled', 'installed', 'paused', 'running', 'manual', 'scheduled'],
  ...['automatic', 'automated', 'general', 'default', 'custom'],
]);

/** Of {@link KINDS}, those that are seldom the name of a field. */
const SELDOM_FIELDS: ReadonlySet<string> = new Set(['manual', 'automatic', 'general']);

const CAPITALS = /^[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)*$/;

/**
 * Returns warnings about valid settings that are probably mistakes. `isWritten` returns whether the file sets a path: in
 * `config`, defaults are already filled in.
 */
export function warningsOf(
  config: Config,
  resources: readonly Resource[],
  isWritten: IsWritten,
  slices: readonly SettingsSlice[] = [],
): Finding[] {
  const offered = resources
    .map((resource) => ({ resource, settings: resourceConfig(config, resource) }))
    .filter(({ settings }) => settings.enabled);
  const found = offered.flatMap(({ resource, settings }) => {
    const path = ['resources', resource.name];
    return [...pagingWarnings(path, isWritten), ...expressionWarnings(path, settings, resource, isWritten)];
  });
  return [
    ...found,
    ...combinationWarnings(config, offered, isWritten, slices),
    ...verificationWarnings(
      config,
      offered.map(({ settings }) => settings),
      isWritten,
    ),
  ];
}

/** Of who is let in, and what platforms are given then. */
function verificationWarnings(config: Config, offered: readonly ResourceConfig[], isWritten: IsWritten): Finding[] {
  const { verification, upstreams, allowUnverifiedCallers } = config;
  if (verification === undefined) return [];
  const handedOn = [...new Set(offered.map(({ upstream }) => upstream))]
    .filter((name) => upstreams[name]?.credential.kind === 'passthrough')
    .filter((name) => !isWritten(['upstreams', name, 'credential']))
    .map((name) => ({
      path: ['upstreams', name],
      key: true,
      message:
        "credential is left out, so that the caller's token goes on to this platform, which MCP forbids a server that verifies it: write credential: { kind: passthrough } if that is meant",
    }));
  const useless = allowUnverifiedCallers
    ? [{ path: ['allowUnverifiedCallers'], key: true, message: 'does nothing beside verification: leave it out' }]
    : [];
  const required = new Set(offered.flatMap(({ requiredScopes }) => requiredScopes));
  const idle = Object.keys(verification.impliedScopes)
    .filter((scope) => ![...impliedBy(scope, verification.impliedScopes)].some((one) => required.has(one)))
    .map((scope) => ({
      path: ['verification', 'impliedScopes', scope],
      key: true,
      message: 'implies no scope that a resource requires (requiredScopes)',
    }));
  return [...handedOn, ...useless, ...idle, ...publishedWarnings(config, isWritten)];
}

/** Warns if the tokens that clients obtain as published would be rejected. */
function publishedWarnings({ verification, publicUrl }: Config, isWritten: IsWritten): Finding[] {
  const { issuer, audience, authorizationServers = [] } = verification ?? {};
  if (issuer === undefined || authorizationServers.length === 0) return [];
  const unknown = authorizationServers.includes(issuer)
    ? []
    : [
        {
          path: ['verification', 'authorizationServers'],
          key: true,
          message: `does not include ${issuer}: only tokens of that issuer are accepted, so a sign-in at another server fails`,
        },
      ];
  const resource = `${publicUrl}/mcp`;
  const isTaken = audience === undefined || [audience].flat().includes(resource);
  if (isTaken || !isWritten(['verification', 'audience'])) return unknown;
  const message = `does not include ${resource}, for which clients request tokens: remove audience, unless the authorization server issues another aud`;
  return [...unknown, { path: ['verification', 'audience'], key: true, message }];
}

/** What a scope implies, by however many steps. */
function impliedBy(scope: string, implied: Readonly<Record<string, readonly string[]>>): ReadonlySet<string> {
  const found = new Set(implied[scope]);
  for (const one of found) for (const next of implied[one] ?? []) found.add(next);
  return found;
}

function pagingWarnings(path: Path, isWritten: IsWritten): Finding[] {
  const isOther = OF_ANOTHER_CONTRACT.some((key) => isWritten([...path, key]));
  if (!isOther || isWritten([...path, 'pagination'])) return [];
  const message =
    'pagination is not set, so the default { kind: token } applies: set the paging of this platform, or { kind: none } if it has none';
  return [{ path, key: true, message }];
}

function expressionWarnings(path: Path, settings: ResourceConfig, resource: Resource, isWritten: IsWritten): Finding[] {
  const { items, where, pagination, fields } = settings;
  const warn = (at: Path, expression: string | undefined, isText: (name: BareName) => boolean): Finding[] => {
    if (expression === undefined) return [];
    const key = String(at.at(-1));
    const texts = bareNamesOf(expression).filter(
      (name) => name.as === 'compared' || name.as === 'argument' || isText(name),
    );
    const messages = [
      ...joinedNamesOf(expression).map((names) =>
        describeJoined(names, names.written === expression.trim() ? key : ''),
      ),
      ...texts.map((name) => describe(name, key)),
    ];
    return messages.map((message) => ({ path: at, key: false, message }));
  };
  const never = () => false;
  const next = 'next' in pagination ? pagination.next : undefined;
  return [
    ...warn([...path, 'items'], items, never),
    ...warn([...path, 'pagination', 'next'], next, never),
    ...warn([...path, 'pagination', 'total'], pagination.total, never),
    ...warn([...path, 'where'], where, never),
    ...Object.entries(fields).flatMap(([field, { from, values }]) => {
      const at = [...path, 'fields', field];
      const isKind = resource.filters.includes(field);
      const isMapped = Object.keys(values).length > 0;
      return warn(isWritten([...at, 'from']) ? [...at, 'from'] : at, from, (name) => {
        return name.name !== field && looksLikeText(name, isKind, isMapped);
      });
    }),
  ];
}

/** `isKind`: the field distinguishes kinds of items. `isMapped`: `values` maps its text, so it comes from the platform. */
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
  const cure = `write ${meant} if that is meant, or @.${name} for the field`;
  return as === 'compared'
    ? `${written} compares two fields, not a field with ${name} itself: ${cure}`
    : `${name} is read as a field of that name, not as ${name} itself: ${cure}`;
}

/** `key`: of settings, where the names are the whole expression. Quotes of YAML stand around others then. */
function describeJoined({ written, operator, meant }: JoinedNames, key: string): string {
  const [does, cure] =
    operator === '-' ? ['subtracts', key && `${key}: '${meant}'`] : ['divides', key && `${key}: ${meant}`];
  return `${written} ${does}, and is no name: write ${cure || meant} for the field, or spaces around ${operator} if it ${does}`;
}
