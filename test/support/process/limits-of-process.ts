import { parse } from 'yaml';
import { splitLimits } from '../limits.ts';
import { LIMITS_VARIABLE } from './preload-limits.ts';

const PRELOAD = new URL('./preload-limits.ts', import.meta.url);

/** Settings of a process, as YAML without bounds, and the environment in which the process has these bounds. */
interface BoundedSettings {
  readonly yaml: string;
  readonly env: Record<string, string>;
}

/** Takes the bounds that are no settings out of the settings of a process. */
export function boundedSettings(yaml: string, env: Readonly<Record<string, string>> = {}): BoundedSettings {
  const { settings, limits } = splitLimits(parse(yaml));
  const options = env['NODE_OPTIONS'] ?? process.env['NODE_OPTIONS'] ?? '';
  return {
    yaml: JSON.stringify(settings),
    env: {
      ...env,
      NODE_OPTIONS: `${options} --import ${PRELOAD.href}`.trim(),
      [LIMITS_VARIABLE]: JSON.stringify(limits),
    },
  };
}
