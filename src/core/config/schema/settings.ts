import { z } from 'zod';
import { CREDENTIAL_KINDS } from '../../kernel/credential-kinds.ts';
import type { Limits } from '../../kernel/limits.ts';
import { RESOURCES, type ResourceName } from '../../resources/index.ts';
import type { Resource } from '../../resources/resource.ts';
import type { SettingsSlice } from '../settings-slice.ts';
import { checkCallerValues } from './caller-values.ts';
import { withChecks } from './cross-check.ts';
import { AdminSettings, checkHosts, checkPorts, HttpSettings, McpSettings, ShutdownSettings } from './edges.ts';
import { checkOffers, settleOffers } from './offers.ts';
import { checkParents } from './resource/joined-settings.ts';
import { resourceSettings } from './resource/resource-settings.ts';
import { bytes, publicUrl } from './scalars.ts';
import { checkCallers } from './upstream/credential-settings.ts';
import { UpstreamSettings } from './upstream/upstream-settings.ts';
import { checkVerification, VerificationSettings } from './verification-settings.ts';

const upstreamName = z
  .string()
  .regex(/^[A-Za-z][\w-]*$/, 'must begin with a letter and contain only letters, digits, _ and -');

const LogSettings = z.strictObject({
  level: z
    .enum(['debug', 'info', 'warn', 'error', 'silent'])
    .default('info')
    .describe('Lowest severity that is logged.'),
  format: z
    .enum(['auto', 'json', 'pretty'])
    .default('auto')
    .describe(
      'Format of log lines: json writes one object per line, pretty is for people, and auto is pretty on a terminal and json elsewhere.',
    ),
});

const CacheSettings = z.strictObject({
  maxBytes: bytes(65_536)
    .default(134_217_728)
    .describe(
      'Size of all stored lists, plain and compressed, plus 2 KiB for each. Beyond: the least recently used is evicted.',
    ),
});

const COMMON = {
  scheme: z
    .string()
    .regex(/^[a-z][a-z0-9+.-]*$/, 'must be a URI scheme in lower case (RFC 3986, section 3.1)')
    .default('platform')
    .describe('URI scheme of the resources.'),
  publicUrl: publicUrl
    .optional()
    .describe(
      'URL by which clients reach this server, such as https://portico.example.com; http only for loopback. MCP is at /mcp below it. Unset: taken from the Host header of each request.',
    ),
  watchSettings: z
    .boolean()
    .default(true)
    .describe('Whether the settings file is reloaded when it changes. SIGHUP reloads it in any case.'),
  allowUnverifiedCallers: z
    .boolean()
    .default(false)
    .describe(
      'Allows upstreams with credential kind service or none without verification. Any string is then accepted as a token.',
    ),
  http: HttpSettings.prefault({}).describe('The public listener.'),
  mcp: McpSettings.prefault({}).describe('MCP: POST /mcp on the public listener, and portico stdio.'),
  admin: AdminSettings.prefault({}).describe('The admin listener.'),
  shutdown: ShutdownSettings.prefault({}).describe('Behaviour after SIGTERM or SIGINT.'),
  log: LogSettings.prefault({}).describe('The log on standard output.'),
  verification: VerificationSettings.optional().describe(
    "Verification of callers' access tokens. Unset: Portico does not verify them.",
  ),
  cache: CacheSettings.prefault({}).describe('Memory for stored lists, for all resources together.'),
  upstreams: z.record(upstreamName, UpstreamSettings).describe('Upstream APIs by name.'),
};

type ResourceSettings = z.ZodPrefault<ReturnType<typeof resourceSettings>>;

/** Creates the schema of all settings of one gateway. */
export function settingsSchema(registry: readonly Resource[] = RESOURCES, slices: readonly SettingsSlice[] = []) {
  const resources = registry.map((resource) => {
    const settings: ResourceSettings = resourceSettings(resource).prefault({}).describe(resource.description);
    return [resource.name, settings] as const;
  });
  const schema = z.strictObject({
    ...COMMON,
    // Only its capability reads a slice.
    ...(Object.fromEntries(slices.map(({ key, schema }) => [key, schema])) as object),
    // Another registry has other names, which nothing asks for by name.
    resources: z
      .strictObject(Object.fromEntries(resources) as Record<ResourceName, ResourceSettings>)
      .prefault({})
      .describe('The resources.'),
  });
  const checks = [
    checkOffers(registry),
    checkParents(registry),
    checkCallers,
    checkVerification,
    checkPorts,
    checkHosts,
    checkCallerValues,
  ];
  return withChecks(schema, ...checks).overwrite(settleOffers(registry));
}

type SettingsSchema = ReturnType<typeof settingsSchema>;

/** Settings as a person writes them: everything with a default may be left out. */
export type SettingsInput = z.input<SettingsSchema>;

type Output = z.output<SettingsSchema>;

type OneResource = Output['resources'][ResourceName] & { readonly upstream: string };

/** Validated settings, with every default filled in. */
export type Settings = Omit<Output, 'resources'> & { readonly resources: Readonly<Record<ResourceName, OneResource>> };

/** Settings, and the bounds that are no settings. */
export type Config = ReturnType<typeof withLimits>;

/** Settings of one resource; `enabled` is true if it is offered. */
export type ResourceConfig = Config['resources'][ResourceName];

export function withLimits(settings: Settings, limits: Limits) {
  const { verification } = settings;
  const largestPage = Math.max(...Object.values(settings.upstreams).map(({ maxPageBytes }) => maxPageBytes));
  return {
    ...settings,
    ...limits.reads,
    maxLoadingBytes: limits.reads.maxLoadingBytes * growth(2 * largestPage, 134_217_728),
    http: { ...settings.http, ...limits.http },
    mcp: { ...settings.mcp, ...limits.mcp },
    cache: {
      ...settings.cache,
      ...limits.cache,
      maxEntries: limits.cache.maxEntries * growth(settings.cache.maxBytes, 134_217_728),
    },
    verification: verification && {
      ...verification,
      ...limits.verification,
      keys: { ...verification.keys, ...limits.issuerKeys },
    },
    upstreams: mapValues(settings.upstreams, (upstream) => upstreamWith(upstream, limits)),
    resources: mapValues(settings.resources, (resource) => {
      const maxPageBytes = settings.upstreams[resource.upstream]?.maxPageBytes ?? 0;
      const maxPageValues = limits.resource.maxPageValues * growth(maxPageBytes, 2_097_152);
      const { cache, ...rest } = resource;
      const stored = cache && { cache: { ...cache, ...limits.lifetime } };
      return { ...rest, ...limits.resource, maxPageValues, ...stored };
    }),
  };
}

/** Factor of a bound that depends on a setting: 1 up to the default of the setting. */
function growth(value: number, byDefault: number): number {
  return Math.max(1, Math.floor(value / byDefault));
}

function upstreamWith(upstream: Settings['upstreams'][string], { breaker, exchange, retry, ...limits }: Limits) {
  const { credential } = upstream;
  return {
    ...upstream,
    ...limits.upstream,
    breaker: { ...upstream.breaker, ...breaker },
    retry: { ...upstream.retry, ...retry },
    credential: obtainsToken(credential) ? { ...credential, ...exchange } : credential,
  };
}

type CredentialOutput = Settings['upstreams'][string]['credential'];

function obtainsToken(
  credential: CredentialOutput,
): credential is Extract<CredentialOutput, { kind: 'client-credentials' | 'exchange' | 'session' }> {
  return CREDENTIAL_KINDS[credential.kind].obtainsToken;
}

function mapValues<Key extends string, From, To>(values: Readonly<Record<Key, From>>, change: (value: From) => To) {
  const changed = Object.entries<From>(values).map(([name, value]) => [name, change(value)]);
  return Object.fromEntries(changed) as Record<Key, To>;
}

/** Returns those that are offered, with their settings. */
export function offeredIn(config: Config, resources: readonly Resource[]) {
  return resources
    .map((resource) => ({ resource, settings: resourceConfig(config, resource) }))
    .filter(({ settings }) => settings.enabled);
}

/** The settings of a resource of the registry that they were checked for. */
export function resourceConfig({ resources }: Config, { name }: Resource): ResourceConfig {
  return resources[name as ResourceName];
}

/** What settings that were checked have for certain. */
export function checked<T>(value: T | undefined): T {
  if (value === undefined) throw new Error('the settings were not checked');
  return value;
}
