import { createReadStream } from 'node:fs';
import { buffer } from 'node:stream/consumers';
import { getSystemErrorMessage } from 'node:util';
import { limitsWith } from '../kernel/limits.ts';
import { RESOURCES } from '../resources/index.ts';
import type { Resource } from '../resources/resource.ts';
import { ConfigError } from './config-error.ts';
import { createSubstitute, type Environment, processEnvironment } from './environment.ts';
import { type CoreSettingsInput, type Settings, settingsSchema, withLimits } from './schema/settings.ts';
import { checkWith } from './setting-issues.ts';
import type { SettingsSlice } from './settings-slice.ts';
import { parseSettingsText } from './yaml-file.ts';

export type LoadedConfig = Awaited<ReturnType<typeof loadConfig>>;

/** Reads a settings file for these resources. Throws {@link ConfigError} with everything that is wrong in it. */
export async function loadConfig(
  file: string,
  environment: Environment = processEnvironment(),
  resources: readonly Resource[] = RESOURCES,
  slices?: readonly SettingsSlice[],
) {
  const text = await readSettings(file);
  const { issues, value, placed, isWritten, isFromEnvironment } = parseSettingsText(
    text,
    file,
    createSubstitute(environment),
  );
  const checked = checkWith(settingsSchema(resources, slices), value());
  if (issues.length > 0 || 'findings' in checked) {
    throw new ConfigError([...issues, ...('findings' in checked ? placed(checked.findings) : [])], file);
  }
  const settings = checked.settings as Settings;
  const config = withLimits(settings, limitsWith());
  return {
    settings,
    /** The same, with the bounds that are not settings. */
    config,
    /** Adds the places in the file to issues that were found when these settings were used. */
    placed: (error: ConfigError) => (error.file === undefined ? new ConfigError(placed(error.issues), file) : error),
    isWritten,
    isFromEnvironment,
    environment,
  };
}

/** Checks settings that come as an object. Throws {@link ConfigError}. */
export function parseSettings(
  input: CoreSettingsInput,
  resources: readonly Resource[] = RESOURCES,
  slices?: readonly SettingsSlice[],
): Settings {
  const checked = checkWith(settingsSchema(resources, slices), input);
  if ('findings' in checked) throw new ConfigError(checked.findings.map(({ path, message }) => ({ path, message })));
  return checked.settings as Settings;
}

/** A larger file is not a settings file. */
const MAX_BYTES = 262_144;

/** Reads a settings file. Throws {@link ConfigError}. */
async function readSettings(file: string): Promise<string> {
  // One byte more than allowed, so that an oversized file is noticed.
  const bytes = await buffer(createReadStream(file, { end: MAX_BYTES })).catch((error: NodeJS.ErrnoException) => {
    throw unreadable(file, `cannot be read: ${getSystemErrorMessage(error.errno ?? 0)}`);
  });
  if (bytes.length > MAX_BYTES) throw unreadable(file, 'is larger than 256 KiB');
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw unreadable(file, 'is not UTF-8 text');
  }
}

function unreadable(file: string, message: string): ConfigError {
  return new ConfigError([{ path: [], message }], file);
}
