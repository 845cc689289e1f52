import type { z } from 'zod';
import { limitsWith } from '../kernel/limits.ts';
import { RESOURCES } from '../resources/index.ts';
import type { Resource } from '../resources/resource.ts';
import { buildTree } from './build-tree.ts';
import { ConfigError, type ConfigIssue, type Finding, sorted } from './config-error.ts';
import { effectiveSettings, isMasked } from './effective.ts';
import { createSubstitute, type Environment, processEnvironment } from './environment.ts';
import { plainWords } from './plain-words.ts';
import {
  type Config,
  type Settings,
  type SettingsInput,
  type SettingsSchema,
  settingsSchema,
  withLimits,
} from './schema/settings.ts';
import type { SettingsSlice } from './settings-slice.ts';
import { nodeAt, placeOf, type SettingsNode, treeValue } from './settings-tree.ts';
import { warningsOf } from './warnings.ts';
import { type Position, parseYaml, readSettings } from './yaml-file.ts';

export type LoadedConfig = Awaited<ReturnType<typeof loadConfig>>;

/** Reads a settings file for these resources. Throws {@link ConfigError} with everything that is wrong in it. */
export async function loadConfig(
  file: string,
  environment: Environment = processEnvironment(),
  resources: readonly Resource[] = RESOURCES,
  slices?: readonly SettingsSlice[],
) {
  const schema = settingsSchema(resources, slices);
  const yaml = parseYaml(await readSettings(file));
  if (yaml.issues.length > 0) throw new ConfigError(yaml.issues, file);
  const issues: ConfigIssue[] = [];
  const root = buildTree(yaml, createSubstitute(environment), issues);
  const checked = checkSettings(treeValue(root, schema), schema);
  if ('findings' in checked) issues.push(...placed(checked.findings, root, yaml.position));
  if (issues.length > 0 || 'findings' in checked) throw new ConfigError(issues, file);
  const { settings } = checked;
  const config = withLimits(settings, limitsWith());
  const found = warningsOf(config, resources, (path) => isWritten(root, path), slices);
  const fromEnvironment = (path: readonly string[]) => isFromEnvironment(root, path);
  return {
    settings,
    /** The same, with the bounds that are no settings. */
    config,
    /** What is probably a mistake, in the order of the file. */
    warnings: sorted(placed(found, root, yaml.position)),
    /** The same issues, found when these settings were used, with their places in the file. */
    placed: (error: ConfigError) =>
      error.file === undefined ? new ConfigError(placed(error.issues, root, yaml.position), file) : error,
    /** The settings in effect, as YAML with secrets masked. */
    masked: () => effectiveSettings(settings, fromEnvironment),
    isWritten: (path: readonly string[]) => isWritten(root, path),
    /** `PORTICO_TOKEN` of the environment, or empty: the access token of commands, which have no caller. */
    token: environment['PORTICO_TOKEN'] ?? '',
    /** Values of the environment for the headers of `credential.from`, by header name in lower case. */
    headerCredentials: headerCredentials(config, environment),
    isFromEnvironment: fromEnvironment,
    isMasked: (path: readonly string[], value: unknown) => isMasked(value, path, fromEnvironment),
  };
}

function isWritten(root: SettingsNode, path: ConfigIssue['path']): boolean {
  return nodeAt(root, path) !== undefined;
}

/** The variable for a header of `credential.from`: `PORTICO_HEADER_X_ACME_TOKEN`. */
export function headerVariable(header: string): string {
  return `PORTICO_HEADER_${header.toUpperCase().replaceAll(/[^A-Z0-9]/g, '_')}`;
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

/** Returns findings with their place, without those of values that are already reported and duplicates through aliases. */
function placed(findings: readonly Finding[], root: SettingsNode, position: Position): ConfigIssue[] {
  const reported = new Set<string>();
  const issues: ConfigIssue[] = [];
  for (const { path, message, key } of findings) {
    const { offset, missing } = placeOf(root, path, key);
    const same = JSON.stringify([offset, missing, message]);
    if (reported.has(same) || isMissing(nodeAt(root, path))) continue;
    reported.add(same);
    issues.push({ path, message, ...position(offset) });
  }
  return issues;
}

function isMissing(node: SettingsNode | undefined): boolean {
  return node?.kind === 'leaf' && node.value === undefined;
}

function isFromEnvironment(root: SettingsNode, path: ConfigIssue['path']): boolean {
  const node = nodeAt(root, path);
  return node?.kind === 'leaf' && node.fromEnvironment;
}

type Checked = { readonly settings: Settings } | { readonly findings: readonly Finding[] };

/** Returns settings with every default filled in, or all that is wrong with them, each once. */
function checkSettings(input: unknown, schema: SettingsSchema): Checked {
  // Settings are read once: to compile the schema takes longer.
  const { success, data, error } = schema.safeParse(input, { error: plainWords, jitless: true });
  if (success) return { settings: data as Settings };
  const findings = new Map<string, Finding>();
  for (const finding of error.issues.flatMap((issue) => findingsOf(issue, []))) {
    findings.set(JSON.stringify([finding.path, finding.message]), finding);
  }
  return { findings: [...findings.values()] };
}

function findingsOf(issue: z.core.$ZodIssue, above: ConfigIssue['path']): Finding[] {
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
      const meant = issue.errors.find(fits);
      return meant?.flatMap((inner) => findingsOf(inner, path)) ?? [{ path, message: issue.message }];
    }
    default:
      return [{ path, message: issue.message }];
  }
}

function fits(option: readonly z.core.$ZodIssue[]): boolean {
  return !option.some(({ code, path }) => code === 'invalid_type' && path.length === 0);
}
