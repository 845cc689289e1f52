import { ConfigError } from '../../../../src/core/config/config-error.ts';
import { parseSettings } from '../../../../src/core/config/load-config.ts';
import type { Settings, SettingsInput } from '../../../../src/core/config/schema/settings.ts';

export const BASE = { baseUrl: 'https://api.example' };

/** Settings with one upstream, `api`, for all resources. */
export function settings({
  api = {},
  tools = {},
  ...rest
}: { api?: object; tools?: object } & Partial<SettingsInput>): SettingsInput {
  return {
    upstreams: { api: { ...BASE, ...api } },
    resources: { projects: { upstream: 'api' }, workflows: { upstream: 'api' }, tools: { upstream: 'api', ...tools } },
    ...rest,
  };
}

/** The settings of these, checked. */
export function parsed(input: Parameters<typeof settings>[0]): Settings {
  return parseSettings(settings(input));
}

/** What is wrong with such settings, as `path: message`. */
export function issues(input: Parameters<typeof settings>[0]): string[] {
  try {
    parsed(input);
    return [];
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return error.message.split('\n');
  }
}
