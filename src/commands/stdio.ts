import { type LoadedSettings, openFor } from '../composition.ts';
import { logWarnings } from '../core/config/config-error.ts';
import { createCore } from '../core/core.ts';
import { type Events, joinEvents } from '../core/kernel/events.ts';
import { readVersion } from '../core/kernel/version.ts';
import { localCaller, withoutVerification } from '../core/local-caller.ts';
import { standardError } from '../core/log/destination.ts';
import { logEvents } from '../core/log/log.ts';
import { createLogger } from '../core/log/logger.ts';
import { MAX_END_GRACE_MS, openStdio } from '../core/mcp/open-stdio.ts';
import { createRepresentations } from '../core/reads/representations/representations.ts';
import { createSecretFiles } from '../core/secret-files.ts';
import { installCrashHandler, nextSignal } from './process-end.ts';

/** Answers MCP on standard input and output. Resolves with 0 if every response was read, otherwise 1. Throws `ConfigError`. */
export async function serveStdio(loaded: LoadedSettings, file: string): Promise<number> {
  const { config, warnings } = loaded;
  const identity = await localCaller({ ...loaded, file, command: 'portico stdio' });
  const destination = standardError();
  const logger = createLogger({ ...config.log, destination });
  installCrashHandler(logger);
  const signalled = nextSignal(logger, destination);
  logWarnings(logger, warnings);
  const events: Events = {};
  const capabilities = openFor('stdio', { config, events, logger, destination });
  Object.assign(events, joinEvents([logEvents(logger), ...capabilities.listeners]));
  const files = createSecretFiles({ events, now: Date.now });
  const version = readVersion();
  await capabilities.start();
  const core = createCore(withoutVerification(config), { events, hooks: capabilities.hooks, now: Date.now, files });
  const { graceMs } = config.shutdown;
  const connection = openStdio({
    ...config.mcp,
    graceMs,
    catalogue: core.catalogue,
    representations: createRepresentations(core.reloadState.cache, config.mcp),
    version,
    now: Date.now,
    identity,
    onCaller: capabilities.hooks.onCaller,
    events,
    wrapDispatch: capabilities.hooks.wrapDispatch,
    watch: capabilities.hooks.watch,
    input: process.stdin,
    output: process.stdout,
  });
  let until: number | undefined;
  const endWithin = (ms: number) => {
    until ??= performance.now() + ms;
  };
  signalled.then(() => {
    endWithin(graceMs);
    connection.drain();
  });
  process.stdin.once('end', () => endWithin(Math.min(graceMs, MAX_END_GRACE_MS)));
  const whole = await connection.closed;
  await core.close();
  await capabilities.stop(until === undefined ? graceMs : Math.max(0, until - performance.now()));
  return whole ? 0 : 1;
}
