import { ConfigError } from '../config/config-error.ts';
import type { Config } from '../config/schema/settings.ts';
import { createAuthenticate, type Identity } from '../credentials/authenticate.ts';
import { GatewayError } from '../kernel/errors.ts';

/** Who asks: the caller whose token stands in settings. Throws `ConfigError` where none does; `command` needs one. */
export async function identityIn({ mcp }: Config, file: string, command: string): Promise<Identity> {
  const { token } = mcp.stdio;
  try {
    if (token !== '') return await createAuthenticate()([`Bearer ${token}`]);
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
  }
  const message =
    token === ''
      ? `is empty; ${command} needs an access token: PORTICO_TOKEN in the environment, or another variable here, as "\${NAME}"`
      : 'is no bearer token (RFC 6750, section 2.1)';
  throw new ConfigError([{ path: ['mcp', 'stdio', 'token'], message }], file);
}
