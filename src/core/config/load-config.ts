import type { z } from 'zod';
import { limitsWith } from '../kernel/limits.ts';
import { RESOURCES } from '../resources/index.ts';
import type { Resource } from '../resources/resource.ts';
import { ConfigError, didYouMean, type Finding } from './config-error.ts';
import { createSubstitute, type Environment, processEnvironment } from './environment.ts';
import { callerValueNames } from './schema/caller-values.ts';
import {
  type Config,
  type Settings,
  type SettingsInput,
  type SettingsSchema,
  settingsSchema,
  withLimits,
} from './schema/settings.ts';
import type { SettingsSlice } from './settings-slice.ts';
import { parseSettingsText, readSettings } from './yaml-file.ts';

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
  const checked = checkSettings(value(), settingsSchema(resources, slices));
  if (issues.length > 0 || 'findings' in checked) {
    throw new ConfigError([...issues, ...('findings' in checked ? placed(checked.findings) : [])], file);
  }
  const { settings } = checked;
  const config = withLimits(settings, limitsWith());
  return {
    settings,
    /** The same, with the bounds that are not settings. */
    config,
    /** Adds the places in the file to issues that were found when these settings were used. */
    placed: (error: ConfigError) => (error.file === undefined ? new ConfigError(placed(error.issues), file) : error),
    isWritten,
    isFromEnvironment,
    /** `PORTICO_TOKEN` of the environment, or empty: the access token of commands, which have no caller. */
    token: environment['PORTICO_TOKEN'] ?? '',
    /** Values of the environment for the headers of `credential.from`, by header name in lower case. */
    headerCredentials: headerCredentials(config, environment),
    /** Values of the environment for what settings name of callers, as `PORTICO_HEADER_X_TENANT_ID` and `PORTICO_CLAIM_TENANT`. */
    ...callerValues(config, environment),
  };
}

/** The variable for a header of `credential.from`: `PORTICO_HEADER_X_ACME_TOKEN`. */
export function headerVariable(header: string): string {
  return `PORTICO_HEADER_${header.toUpperCase().replaceAll(/[^A-Z0-9]/g, '_')}`;
}

function callerValues(config: Config, environment: Environment) {
  const { claims, headers } = callerValueNames(config);
  const given = (names: readonly string[], variableOf: (name: string) => string) =>
    names.flatMap((name) => {
      const value = environment[variableOf(name)] ?? '';
      return value === '' ? [] : [[name, value] as const];
    });
  const claimVariable = (name: string) => headerVariable(name).replace('HEADER', 'CLAIM');
  return {
    claims: new Map(given(claims, claimVariable)),
    forwarded: new Map(given(headers, headerVariable).map(([name, value]) => [name.toLowerCase(), [value]])),
  };
}

function headerCredentials({ upstreams }: Config, environment: Environment): ReadonlyMap<string, string> {
  const found = Object.values(upstreams).flatMap(({ credential }) => {
    if (credential.kind !== 'header' || credential.from === undefined) return [];
    const value = environment[headerVariable(credential.from)] ?? '';
    return value === '' ? [] : [[credential.from.toLowerCase(), value] as const];
  });
  return new Map(found);
}

/** Checks settings that come as an object. Throws {@link ConfigError}. */
export function parseSettings(
  input: SettingsInput,
  resources: readonly Resource[] = RESOURCES,
  slices?: readonly SettingsSlice[],
): Settings {
  const checked = checkSettings(input, settingsSchema(resources, slices));
  if ('settings' in checked) return checked.settings;
  throw new ConfigError(checked.findings.map(({ path, message }) => ({ path, message })));
}

type Checked = { readonly settings: Settings } | { readonly findings: readonly Finding[] };

/** Returns settings with every default filled in, or all that is wrong with them. Zod's messages contain no value. */
function checkSettings(input: unknown, schema: SettingsSchema): Checked {
  // Settings are read once: to compile the schema takes longer.
  const { success, data, error } = schema.safeParse(input, { error: unknownKeys, jitless: true });
  if (success) return { settings: data as Settings };
  return { findings: error.issues.flatMap((issue) => findingsOf(issue)) };
}

/** One line for each unknown key; `undefined` for any other issue. */
function unknownKeys({ code, keys, inst }: z.core.$ZodRawIssue): string | undefined {
  if (code !== 'unrecognized_keys') return undefined;
  const known = Object.keys(Object(inst).shape);
  return (keys as string[]).map((key) => `Unrecognized key${didYouMean(key, known)}`).join('\n');
}

function findingsOf(issue: z.core.$ZodIssue, above: Finding['path'] = []): Finding[] {
  // No key is a symbol.
  const path = [...above, ...(issue.path as (string | number)[])];
  switch (issue.code) {
    case 'unrecognized_keys': {
      const messages = issue.message.split('\n');
      return issue.keys.map((key, index) => ({ path: [...path, key], key: true, message: messages[index] ?? '' }));
    }
    case 'invalid_key':
      return issue.issues.map(({ message }) => ({ path, key: true, message }));
    case 'invalid_union': {
      // Of a text or a block, the one that was written.
      const written = issue.errors.find(
        (option) => !option.some((inner) => inner.code === 'invalid_type' && inner.path.length === 0),
      );
      return written?.flatMap((inner) => findingsOf(inner, path)) ?? [{ path, message: issue.message }];
    }
    default:
      return [{ path, message: issue.message }];
  }
}
