import { buildTree } from './build-tree.ts';
import { checkSettings, type Finding } from './check-settings.ts';
import { ConfigError, type Mistake } from './config-error.ts';
import { effectiveSettings } from './effective.ts';
import { type Environment, processEnvironment } from './environment.ts';
import { readSettings } from './read-settings.ts';
import { type Config, Settings, type SettingsInput } from './schema/settings.ts';
import { nodeAt, offsetOf, type SettingsNode } from './settings-tree.ts';
import { createSubstitute } from './substitute.ts';
import { treeValue } from './tree-value.ts';
import { type Position, parseYaml } from './yaml-document.ts';

/** Settings of a file. */
export interface LoadedConfig {
  readonly config: Config;
  /** The settings that take effect, every default included, as YAML with its secrets masked. */
  masked(): string;
}

/** Reads a settings file. Throws {@link ConfigError} with everything that is wrong in it. */
export async function loadConfig(file: string, environment: Environment = processEnvironment()): Promise<LoadedConfig> {
  const yaml = parseYaml(await readSettings(file));
  if (yaml.mistakes.length > 0) throw new ConfigError(yaml.mistakes, file);
  const mistakes: Mistake[] = [];
  const root = buildTree(yaml, createSubstitute(environment), mistakes);
  const checked = checkSettings(treeValue(root, Settings));
  if ('findings' in checked)
    throw new ConfigError([...mistakes, ...placed(checked.findings, root, yaml.position)], file);
  if (mistakes.length > 0) throw new ConfigError(mistakes, file);
  const { config } = checked;
  return { config, masked: () => effectiveSettings(config, (path) => isFromEnvironment(root, path)) };
}

/** Checks settings that come as an object. Throws {@link ConfigError} with everything that is wrong in them. */
export function parseConfig(input: SettingsInput): Config {
  const checked = checkSettings(input);
  if ('config' in checked) return checked.config;
  throw new ConfigError(checked.findings.map(({ path, message }) => ({ path, message })));
}

/**
 * Findings with their place in the file. Left out are values that could not be had, since that is told already, and
 * what was found before through another alias of the same block.
 */
function placed(findings: readonly Finding[], root: SettingsNode, position: Position): Mistake[] {
  const told = new Set<string>();
  const mistakes: Mistake[] = [];
  for (const { path, message, key } of findings) {
    const offset = offsetOf(root, path, key);
    const same = `${offset} ${message}`;
    if (told.has(same) || isMissing(nodeAt(root, path))) continue;
    told.add(same);
    mistakes.push({ path, message, ...position(offset) });
  }
  return mistakes;
}

function isMissing(node: SettingsNode | undefined): boolean {
  return node?.kind === 'leaf' && node.value === undefined;
}

function isFromEnvironment(root: SettingsNode, path: Mistake['path']): boolean {
  const node = nodeAt(root, path);
  return node?.kind === 'leaf' && node.fromEnvironment;
}
