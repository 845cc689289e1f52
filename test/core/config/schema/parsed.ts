import { ConfigError } from '../../../../src/core/config/config-error.ts';
import { parseSettings } from '../../../../src/core/config/load-config.ts';
import type { CoreSettingsInput, Settings } from '../../../../src/core/config/schema/settings.ts';
import { thrownBy } from '../../../support/thrown.ts';

export const BASE = { baseUrl: 'https://api.example' };

type Input = { api?: object; tools?: object } & Partial<CoreSettingsInput>;

/** Checked settings with one upstream, `api`, for all resources. */
export function parsed({ api = {}, tools = {}, ...rest }: Input): Settings {
  return parseSettings({
    upstreams: { api: { ...BASE, ...api } },
    resources: { projects: { upstream: 'api' }, workflows: { upstream: 'api' }, tools: { upstream: 'api', ...tools } },
    ...rest,
  });
}

/** What is wrong with such settings, as `path: message`. */
export function issues(input: Input): string[] {
  return thrownBy(ConfigError, () => parsed(input))?.message.split('\n') ?? [];
}

/** What is wrong with settings of tools, each without `resources.tools.`. */
export const issuesOfTools = (tools: object) =>
  issues({ tools }).map((issue) => issue.replace(/^resources\.tools\./, ''));

/** What is wrong with settings of the upstream, each without `upstreams.api.`. */
export const issuesOfApi = (api: object, rest: Partial<CoreSettingsInput> = {}) =>
  issues({ api, ...rest }).map((issue) => issue.replace(/^upstreams\.api\./, ''));
