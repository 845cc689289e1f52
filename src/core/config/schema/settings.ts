import type { z } from 'zod';
import type { Limits } from '../../kernel/limits.ts';
import { RESOURCES, type ResourceName } from '../../resources/index.ts';
import type { Resource } from '../../resources/resource.ts';
import type { SettingsSlice } from '../settings-slice.ts';
import { withChecks } from './cross-check.ts';
import { crossChecks, settleOffers } from './cross-checks.ts';
import { type SettingsShape, settingsShape } from './settings-shape.ts';

const NO_SLICES: readonly SettingsSlice[] = [];
/** The last one for each registry: to create it takes ten times as long as to check settings. */
const schemas = new WeakMap<readonly Resource[], { slices: typeof NO_SLICES; schema: ReturnType<typeof newSchema> }>();

/** The schema of all settings of one gateway. */
export function settingsSchema(registry: readonly Resource[] = RESOURCES, slices = NO_SLICES) {
  const known = schemas.get(registry);
  if (known?.slices === slices) return known.schema;
  const schema = newSchema(registry, slices);
  schemas.set(registry, { slices, schema });
  return schema;
}

function newSchema(registry: readonly Resource[], slices: readonly SettingsSlice[]) {
  return withChecks(settingsShape(registry, slices), ...crossChecks(registry)).overwrite(settleOffers(registry));
}

/** Settings as a person writes them: everything with a default may be left out. */
export type CoreSettingsInput = z.input<ReturnType<typeof settingsSchema>>;

type OneResource = SettingsShape['resources'][ResourceName] & { readonly upstream: string };

/** Validated settings, with every default filled in. */
export type Settings = Omit<SettingsShape, 'resources'> & {
  readonly resources: Readonly<Record<ResourceName, OneResource>>;
};

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
  return {
    ...upstream,
    ...limits.upstream,
    breaker: { ...upstream.breaker, ...breaker },
    retry: { ...upstream.retry, ...retry },
    // Read by the kinds that obtain a token.
    credential: { ...upstream.credential, ...exchange },
  };
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

/** Returns a value that checked settings always have. Throws for `undefined`, which is a bug. */
export function assertDefined<T>(value: T | undefined): T {
  if (value === undefined) throw new Error('the settings were not checked');
  return value;
}
