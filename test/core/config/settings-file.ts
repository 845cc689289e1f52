import { type LoadedSettings, loadSettings } from '../../../src/composition.ts';
import { ConfigError } from '../../../src/core/config/config-error.ts';
import type { Environment } from '../../../src/core/config/environment.ts';
import { settingsFile } from '../../support/process/process.ts';
import { rejectionBy } from '../../support/thrown.ts';

/** Enough for settings to be valid. */
export const UPSTREAMS = `
upstreams:
  projects: { baseUrl: https://projects.example }
  workflows: { baseUrl: https://workflows.example }
  tools: { baseUrl: https://tools.example }
`;

/** Settings that have `yaml` as their text. */
export async function load(yaml: string, environment: Environment = {}): Promise<LoadedSettings> {
  return loadSettings(await settingsFile(yaml), environment);
}

/** What is wrong with such settings, as `line:column: path: message`; empty when nothing is. */
export async function issuesIn(yaml: string, environment: Environment = {}): Promise<string[]> {
  const { message } = (await rejectionBy(ConfigError, load(yaml, environment))) ?? {};
  return message?.split('\n').map((line) => line.replace(/^.*?portico\.yaml:\s?/, '')) ?? [];
}
