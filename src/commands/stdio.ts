import { ConfigError } from '../config/config-error.ts';
import type { Config } from '../config/schema/settings.ts';
import { createCore } from '../core.ts';
import { createAuthenticate, type Identity } from '../credentials/authenticate.ts';
import { GatewayError } from '../kernel/errors.ts';
import { openStdio } from '../mcp/stdio/open-stdio.ts';
import { joinEvents } from '../observability/events.ts';
import { logEvents } from '../observability/log.ts';
import { createLogger, standardError } from '../observability/logger.ts';
import { readVersion } from '../observability/version.ts';
import { createRepresentations } from '../snapshots/representations.ts';
import { installCrashHandler, nextSignal } from './process-end.ts';

/**
 * Answers MCP on standard input and output, with the token in settings, until the input ends or a signal comes.
 * Resolves with the exit code of the process: 0 when every response was taken, else 1. Throws `ConfigError` where
 * settings hold no token.
 */
export async function serveStdio(config: Config, file: string): Promise<number> {
  const identity = await identityIn(config, file);
  const destination = standardError();
  const logger = createLogger({ level: config.log.level, destination });
  installCrashHandler(logger);
  const signalled = nextSignal(logger, destination);
  const events = joinEvents([logEvents(logger)]);
  const core = createCore(config, { events, now: Date.now });
  const connection = openStdio({
    ...config.mcp,
    graceMs: config.shutdown.graceMs,
    catalogue: core.catalogue,
    representations: createRepresentations(core.cache, config.mcp),
    version: readVersion(),
    now: Date.now,
    identity,
    events,
    input: process.stdin,
    output: process.stdout,
  });
  signalled.then(() => connection.drain());
  process.stdin.once('end', () => connection.drain());
  const whole = await connection.closed;
  await core.close();
  return whole ? 0 : 1;
}

/** Who asks, on the whole of the connection. */
async function identityIn({ mcp }: Config, file: string): Promise<Identity> {
  const { token } = mcp.stdio;
  try {
    if (token !== '') return await createAuthenticate()([`Bearer ${token}`]);
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
  }
  const message =
    token === ''
      ? 'is empty; portico stdio needs an access token here, such as "${PORTICO_TOKEN}" and that in the environment'
      : 'is no bearer token (RFC 6750, section 2.1)';
  throw new ConfigError([{ path: ['mcp', 'stdio', 'token'], message }], file);
}
