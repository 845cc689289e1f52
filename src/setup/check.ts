import { onOneLine } from '../core/config/config-error.ts';
import type { LoadedConfig } from '../core/config/load-config.ts';
import { resourceConfig } from '../core/config/schema/settings.ts';
import { RESOURCES } from '../core/resources/index.ts';
import { effectiveSettings } from './effective-settings.ts';

/** What `portico check` prints of a file in which nothing is wrong: one line, and with `full` all settings below it. */
export function checkReport(
  file: string,
  { config, settings, isFromEnvironment }: LoadedConfig,
  full: boolean,
): string {
  const resources = RESOURCES.map((resource) => ({ name: resource.name, ...resourceConfig(config, resource) }));
  const offered = resources.filter(({ enabled }) => enabled);
  const left = resources.filter(({ enabled }) => !enabled).map(({ name }) => name);
  const names = offered.map(({ name, upstream }) => (upstream === name ? name : `${name} (${upstream})`));
  const line = `${file}: OK: offers ${names.join(', ')}${left.length > 0 ? `; not offered: ${left.join(', ')}` : ''}`;
  // A comment of YAML, so that what is printed can be read back.
  return full ? `# ${onOneLine(line)}\n${effectiveSettings(settings, isFromEnvironment)}` : `${onOneLine(line)}\n`;
}
