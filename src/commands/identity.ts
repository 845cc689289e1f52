import { ConfigError } from '../config/config-error.ts';
import { type Config, resourceConfig } from '../config/schema/settings.ts';
import { createAuthenticate, type Identity } from '../credentials/authenticate.ts';
import { Credential } from '../kernel/caller.ts';
import { GatewayError } from '../kernel/errors.ts';
import { RESOURCES } from '../resources/index.ts';

/**
 * Who asks: the caller whose token stands in settings, or, where no upstream is given that of its caller, anybody. Throws
 * `ConfigError` where `command` needs a token and settings hold none.
 */
export async function identityIn(config: Config, file: string, command: string): Promise<Identity> {
  const { token } = config.mcp.stdio;
  if (token === '' && !wantsToken(config)) return createAuthenticate()([new Credential('Bearer none')]);
  try {
    if (token !== '') return await createAuthenticate()([new Credential(`Bearer ${token}`)]);
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
  }
  const message =
    token === ''
      ? `is empty; ${command} needs an access token: PORTICO_TOKEN in the environment, or another variable here, as "\${NAME}"`
      : 'is no bearer token (RFC 6750, section 2.1)';
  throw new ConfigError([{ path: ['mcp', 'stdio', 'token'], message }], file);
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
  return RESOURCES.map((resource) => resourceConfig(config, resource))
    .filter(({ enabled }) => enabled)
    .map(({ upstream }) => config.upstreams[upstream]?.credential.kind)
    .some((kind) => kind !== 'service' && kind !== 'none');
}
