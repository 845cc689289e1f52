import { ConfigError, type ConfigIssue } from './config/config-error.ts';
import { headerVariable, type LoadedConfig } from './config/load-config.ts';
import { type Config, resourceConfig } from './config/schema/settings.ts';
import { createAuthenticate, type Identity } from './credentials/authenticate.ts';
import { Credential, flawOf, HEADER_VALUE, TOKEN } from './kernel/caller.ts';
import { RESOURCES } from './resources/index.ts';

type Loaded = Pick<LoadedConfig, 'config' | 'token' | 'headerCredentials'>;

/** The caller of a command, by the environment. Throws `ConfigError`, which names `command`, if a credential is missing. */
export async function localCaller(loaded: Loaded, file: string, command: string) {
  const credential = localCredential(loaded, file, command);
  const others = localHeaderCredentials(loaded, file, command);
  const identity: Identity = await createAuthenticate()([credential]);
  return { ...identity, ...(others.size > 0 && { others }) };
}

/** Returns settings without verification: the person who runs a command already holds all secrets of the settings. */
export function withoutVerification(config: Config): Config {
  return { ...config, verification: undefined };
}

function localCredential({ config, token }: Loaded, file: string, command: string): Credential {
  if (token === '' && !credentialsIn(config).some(([, kind]) => kind === 'token')) return new Credential('Bearer none');
  const flaw = flawOf(token, TOKEN);
  if (flaw === undefined) return new Credential(`Bearer ${token}`);
  const message =
    token === ''
      ? `PORTICO_TOKEN is not set in the environment; ${command} needs an access token`
      : `PORTICO_TOKEN in the environment is no token of visible ASCII characters: ${flaw}`;
  throw new ConfigError([{ path: [], message }], file);
}

/** Returns credentials by header name in lower case. Throws `ConfigError`. */
function localHeaderCredentials({ config, headerCredentials }: Loaded, file: string, command: string) {
  const issues: ConfigIssue[] = [];
  const others = new Map<string, readonly Credential[]>();
  for (const [name, kind, from] of credentialsIn(config)) {
    if (kind !== 'header') continue;
    const value = headerCredentials.get(from.toLowerCase());
    const flaw = value === undefined ? undefined : flawOf(value, HEADER_VALUE);
    if (value !== undefined && flaw === undefined) others.set(from.toLowerCase(), [new Credential(value)]);
    else {
      const wrong = value === undefined ? 'is not set' : `holds no credential: ${flaw}`;
      const message = `is an HTTP header, and ${command} takes its value from ${headerVariable(from)} in the environment, which ${wrong}`;
      issues.push({ path: ['upstreams', name, 'credential', 'from'], message });
    }
  }
  if (issues.length > 0) throw new ConfigError(issues, file);
  return others;
}

/** What each upstream receives of the caller. */
function credentialsIn(config: Config): [upstream: string, kind: 'token' | 'header' | 'none', from: string][] {
  const offered = RESOURCES.map((resource) => resourceConfig(config, resource)).filter(({ enabled }) => enabled);
  return [...new Set(offered.map(({ upstream }) => upstream))].map((name) => {
    const credential = config.upstreams[name]?.credential;
    if (credential?.kind === 'header' && credential.from !== undefined) return [name, 'header', credential.from];
    return [name, credential?.kind === 'service' || credential?.kind === 'none' ? 'none' : 'token', ''];
  });
}
