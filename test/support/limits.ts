import { parseSettings } from '../../src/core/config/load-config.ts';
import { type Config, withLimits } from '../../src/core/config/schema/settings.ts';
import { LIMIT_ROWS, type LimitOverrides, type Limits, limitsWith } from '../../src/core/kernel/limits.ts';
import type { Resource } from '../../src/core/resources/resource.ts';
import type { SettingsInput } from '../../src/gateway.ts';

/** The block in which settings of a test have the bounds of each part. */
const PLACES: Readonly<Record<keyof Limits, string>> = {
  http: 'http.',
  mcp: 'mcp.',
  subscriptions: 'subscriptions.',
  limits: 'limits.',
  tracing: 'tracing.',
  reads: '',
  cache: 'cache.',
  shared: 'shared.',
  verification: 'verification.',
  issuerKeys: 'verification.keys.',
  upstream: 'upstreams.<name>.',
  breaker: 'upstreams.<name>.breaker.',
  retry: 'upstreams.<name>.retry.',
  exchange: 'upstreams.<name>.credential.',
  resource: 'resources.<name>.',
  lifetime: 'resources.<name>.cache.',
};

type Bounds = { readonly [Part in keyof Limits as keyof Limits[Part]]?: number | undefined };

/** The same settings, where each block may hold bounds. */
type Loose<T> = T extends readonly unknown[] | ((...all: never[]) => unknown)
  ? T
  : T extends object
    ? { [Key in keyof T]: Loose<T[Key]> } & (string extends keyof T ? unknown : Bounds & Breaker<T>)
    : T;
type Breaker<T> = T extends { baseUrl?: unknown }
  ? { readonly breaker?: Partial<Limits['breaker']> | undefined }
  : unknown;

/** Settings of a test. They may hold bounds that are no settings, in the block that these belong to. */
export type TestSettings = Loose<SettingsInput>;

type Block = Record<string, unknown>;

/** Takes the bounds out of the settings of a test. Those of upstreams and resources hold for all of them. */
export function splitLimits(written: TestSettings): { settings: SettingsInput; limits: LimitOverrides } {
  const settings = structuredClone(written) as Block;
  const limits: Record<string, Record<string, number>> = {};
  for (const { part, name } of LIMIT_ROWS) {
    for (const block of blocksAt([settings], PLACES[part].split('.').slice(0, -1))) {
      if (typeof block[name] !== 'number') continue;
      limits[part] = { ...limits[part], [name]: block[name] };
      delete block[name];
    }
  }
  for (const upstream of blocksAt([settings], ['upstreams', '<name>'])) {
    if (upstream['breaker'] !== undefined && Object.keys(Object(upstream['breaker'])).length === 0) {
      delete upstream['breaker'];
    }
  }
  return { settings: settings as unknown as SettingsInput, limits };
}

function blocksAt(blocks: readonly Block[], [step, ...steps]: readonly string[]): readonly Block[] {
  if (step === undefined) return blocks;
  const below = blocks.flatMap((block) => (step === '<name>' ? Object.values(block) : [block[step]]));
  return blocksAt(below.filter((block) => typeof block === 'object' && block !== null) as Block[], steps);
}

/** What a gateway runs by, of the settings of a test. */
export function configOf(written: TestSettings, resources?: readonly Resource[]): Config {
  const { settings, limits } = splitLimits(written);
  return parseConfig(settings, resources, undefined, limits);
}

/** Checked settings with the bounds that are no settings. Throws `ConfigError`. */
export function parseConfig(
  ...[input, resources, slices, limits]: [...Parameters<typeof parseSettings>, limits?: LimitOverrides]
) {
  return withLimits(parseSettings(input, resources, slices), limitsWith(limits));
}
