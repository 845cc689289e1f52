import type { AnyCapability, CapabilityContext, Purpose } from './capabilities/capability.ts';
import { type OpenCapabilities, openCapabilities, type SlicesOf, slicesOf } from './capabilities/compose.ts';
import { CAPABILITIES } from './capabilities/index.ts';
import { certificateWarnings } from './core/certificates.ts';
import { ConfigError } from './core/config/config-error.ts';
import type { Environment } from './core/config/environment.ts';
import { loadConfig } from './core/config/load-config.ts';
import type { SettingsSlice, SliceInputs } from './core/config/settings-slice.ts';
import { createKeyOf } from './core/credentials/authenticate.ts';
import { limitsWith } from './core/kernel/limits.ts';
import { RESOURCES } from './core/resources/index.ts';
import type { Resource } from './core/resources/resource.ts';
import { settingsWarnings } from './setup/settings-warnings.ts';

export type CapabilitySettings = SliceInputs<SlicesOf<typeof CAPABILITIES>>;

type OwnContext = Omit<CapabilityContext, 'counts' | 'keyOf' | 'wrapClient'>;

/** Opens capabilities for `portico serve`. @default all */
export function openToServe(context: OwnContext, known: readonly AnyCapability[] = CAPABILITIES): OpenCapabilities {
  return openAs('serve', known, context);
}

/** Opens the capabilities that `portico stdio`, or one read of a probe, uses. Throws `ConfigError`. */
export function openFor(
  purpose: Exclude<Purpose, 'serve'>,
  context: Pick<CapabilityContext, 'config' | 'events' | 'logger' | 'destination'>,
): OpenCapabilities {
  const own = { now: Date.now, resources: RESOURCES, limits: limitsWith() };
  const opened = openAs(purpose, CAPABILITIES, { ...context, ...own });
  opened.check();
  return opened;
}

function openAs(purpose: Purpose, known: readonly AnyCapability[], context: OwnContext): OpenCapabilities {
  const capabilities: OpenCapabilities = openCapabilities(known, purpose, {
    ...context,
    counts: undefined,
    keyOf: createKeyOf(),
    wrapClient: (client, baseUrl) => capabilities.hooks.wrapClient(client, baseUrl),
  });
  return capabilities;
}

/** The blocks of the settings file that capabilities add. */
export const SLICES = slicesOf(CAPABILITIES);

/** Returns the blocks of the settings file that belong to these capabilities. @default all */
export function slicesFor(known?: readonly AnyCapability[]): readonly SettingsSlice[] {
  return known === undefined ? SLICES : slicesOf(known);
}

export type LoadedSettings = Awaited<ReturnType<typeof loadSettings>>;

/** Reads a settings file, and the certificates that it names. Throws `ConfigError` with everything that is wrong in the file. */
export async function loadSettings(
  file: string,
  environment?: Environment,
  resources: readonly Resource[] = RESOURCES,
) {
  const loaded = await loadConfig(file, environment, resources, SLICES);
  const certificates = certificateWarnings(loaded.config, Date.now);
  const found = [...settingsWarnings(loaded, resources, SLICES), ...certificates];
  /** Probable mistakes, in the order of the file. */
  const warnings = loaded.placed(new ConfigError(found)).issues;
  return { ...loaded, warnings };
}
