import { ConfigError } from './config/config-error.ts';
import type { Config } from './config/schema/settings.ts';
import { createCore } from './core.ts';
import { readBearer } from './credentials/bearer.ts';
import { expiryOf } from './credentials/expiry.ts';
import { createPartitioner } from './credentials/partition.ts';
import { GatewayError } from './kernel/errors.ts';
import { endOnUnhandled } from './last-resort.ts';
import { openStdio } from './mcp/stdio/connection.ts';
import { createLogger, standardError } from './observability/logger.ts';
import { RESOURCES } from './resources/index.ts';
import { nextSignal } from './signals.ts';
import { readVersion } from './version.ts';

/**
 * Answers MCP on standard input and output, with the token in settings, until the input ends or a signal comes.
 * Resolves with the exit code of the process: 0 when every request was answered, else 1. Throws `ConfigError` where
 * settings hold no token.
 */
export async function serveStdio(config: Config, file: string): Promise<number> {
  const credential = credentialIn(config, file);
  const logger = createLogger({ level: config.log.level, destination: standardError() });
  endOnUnhandled(logger);
  const signalled = nextSignal();
  const core = createCore(config, { logger, now: Date.now });
  const expiresAt = expiryOf(credential);
  const connection = openStdio({
    ...config.mcp,
    catalogue: core.catalogue,
    resources: RESOURCES,
    version: readVersion(),
    now: Date.now,
    caller: {
      credential,
      partition: createPartitioner()(credential),
      ...(expiresAt !== undefined && { expiresAt }),
    },
    logger,
    input: process.stdin,
    output: process.stdout,
  });
  signalled.then(() => connection.drain(config.shutdown.graceMs));
  process.stdin.once('end', () => connection.drain(config.shutdown.graceMs));
  const whole = await connection.closed;
  await core.close();
  // What is not read any more would keep the process.
  process.stdin.destroy();
  return whole ? 0 : 1;
}

function credentialIn({ mcp }: Config, file: string) {
  const { token } = mcp.stdio;
  try {
    if (token !== '') return readBearer([`Bearer ${token}`]);
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
  }
  const message =
    token === ''
      ? 'is empty; portico stdio needs an access token here, such as "${PORTICO_TOKEN}" and that in the environment'
      : 'is no bearer token (RFC 6750, section 2.1)';
  throw new ConfigError([{ path: ['mcp', 'stdio', 'token'], message }], file);
}
