import { ConfigError } from '../config/mistakes/config-error.ts';
import { type Config, resourceConfig } from '../config/schema/settings.ts';
import { createAuthenticate, type Identity } from '../credentials/authenticate.ts';
import { Credential } from '../kernel/caller.ts';
import { flawOf, TOKEN } from '../kernel/header-value.ts';
import { RESOURCES } from '../resources/index.ts';

/**
 * Who asks: the caller whose token stands in settings, or, where no upstream is given that of its caller, anybody. Throws
 * `ConfigError` where `command` needs a token and settings hold none.
 */
export async function identityIn(config: Config, file: string, command: string): Promise<Identity> {
  const { token } = config.mcp.stdio;
  checkHeaders(config, file, command);
  if (token === '' && !wantsToken(config)) return createAuthenticate()([new Credential('Bearer none')]);
  if (TOKEN.test(token)) return createAuthenticate()([new Credential(`Bearer ${token}`)]);
  const message =
    token === ''
      ? `is empty; ${command} needs an access token: PORTICO_TOKEN in the environment, or another variable here, as "\${NAME}"`
      : `is no token of visible ASCII characters: ${flawOf(token)}`;
  throw new ConfigError([{ path: ['mcp', 'stdio', 'token'], message }], file);
}

/** Throws `ConfigError` where an upstream is given what callers bring in a header: `command` has none. */
function checkHeaders(config: Config, file: string, command: string): void {
  const names = new Set(offeredIn(config).map(({ upstream }) => upstream));
  const issues = [...names].flatMap((name) => {
    const credential = config.upstreams[name]?.credential;
    if (credential?.kind !== 'header' || credential.from === undefined) return [];
    return [{ path: ['upstreams', name, 'credential', 'from'], message: `is a header of HTTP; ${command} has none` }];
  });
  if (issues.length > 0) throw new ConfigError(issues, file);
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
    .map(({ upstream }) => config.upstreams[upstream]?.credential.kind)
    .some((kind) => kind !== 'service' && kind !== 'none');
}

function offeredIn(config: Config) {
  return RESOURCES.map((resource) => resourceConfig(config, resource)).filter(({ enabled }) => enabled);
}
