import { headerVariable, type LoadedConfig } from '../core/config/load-config.ts';
import { ConfigError, type ConfigIssue } from '../core/config/mistakes/config-error.ts';
import { type Config, resourceConfig } from '../core/config/schema/settings.ts';
import { createAuthenticate, type Identity } from '../core/credentials/authenticate.ts';
import { Credential } from '../core/kernel/caller.ts';
import { flawOf, HEADER_VALUE, TOKEN } from '../core/kernel/header-value.ts';
import { RESOURCES } from '../core/resources/index.ts';

type Loaded = Pick<LoadedConfig, 'config' | 'headerCredentials'>;

/**
 * Who asks: the caller whose token stands in settings, or, where no upstream is given that of its caller, anybody. Throws
 * `ConfigError` where `command` needs a token and settings hold none.
 */
export async function identityIn(loaded: Loaded, file: string, command: string): Promise<Identity> {
  const others = othersIn(loaded, file, command);
  return { ...(await bearerIn(loaded.config, file, command)), ...(others && { others }) };
}

async function bearerIn(config: Config, file: string, command: string): Promise<Identity> {
  const { token } = config.mcp.stdio;
  if (token === '' && !wantsToken(config)) return createAuthenticate()([new Credential('Bearer none')]);
  if (TOKEN.test(token)) return createAuthenticate()([new Credential(`Bearer ${token}`)]);
  const message =
    token === ''
      ? `is empty; ${command} needs an access token: PORTICO_TOKEN in the environment, or another variable here, as "\${NAME}"`
      : `is no token of visible ASCII characters: ${flawOf(token)}`;
  throw new ConfigError([{ path: ['mcp', 'stdio', 'token'], message }], file);
}

/**
 * What stands in the environment for the headers of `credential.from`. Throws `ConfigError` where a variable is missing that
 * an upstream needs, or holds what no header can.
 */
function othersIn({ config, headerCredentials }: Loaded, file: string, command: string): Identity['others'] {
  const issues: ConfigIssue[] = [];
  const others = new Map<string, readonly Credential[]>();
  for (const name of new Set(offeredIn(config).map(({ upstream }) => upstream))) {
    const credential = config.upstreams[name]?.credential;
    if (credential?.kind !== 'header' || credential.from === undefined) continue;
    const { from } = credential;
    const value = headerCredentials.get(from.toLowerCase());
    if (value !== undefined && HEADER_VALUE.test(value)) others.set(from.toLowerCase(), [new Credential(value)]);
    else {
      const wrong = value === undefined ? 'is not set' : `holds no credential: ${flawOf(value)}`;
      const message = `is a header of HTTP, and ${command} takes its value from ${headerVariable(from)} in the environment, which ${wrong}`;
      issues.push({ path: ['upstreams', name, 'credential', 'from'], message });
    }
  }
  if (issues.length > 0) throw new ConfigError(issues, file);
  return others.size === 0 ? undefined : others;
}

/**
 * The same settings for whoever runs a command on them: nobody verifies that, since these settings and all secrets that they
 * name are theirs already.
 */
export function forWhoeverRunsIt(config: Config): Config {
  return { ...config, verification: undefined };
}

/** Whether an upstream that is read from is given the caller's own token. */
function wantsToken(config: Config): boolean {
  return offeredIn(config)
    .map(({ upstream }) => config.upstreams[upstream]?.credential)
    .some((credential) => {
      const isOther = credential?.kind === 'header' && credential.from !== undefined;
      return !isOther && credential?.kind !== 'service' && credential?.kind !== 'none';
    });
}

function offeredIn(config: Config) {
  return RESOURCES.map((resource) => resourceConfig(config, resource)).filter(({ enabled }) => enabled);
}
