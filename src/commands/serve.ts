import { type ConfigIssue, logWarnings } from '../core/config/config-error.ts';
import type { Settings } from '../core/config/schema/settings.ts';
import { standardOutput } from '../core/log/destination.ts';
import { createLogger } from '../core/log/logger.ts';
import { createGateway, type Gateway } from '../gateway.ts';
import { followSettings } from './follow-settings.ts';
import { installCrashHandler, nextSignal } from './process-end.ts';

interface ServeOptions {
  readonly onReady?: (url: string) => void;
  readonly warnings?: readonly ConfigIssue[];
  readonly file?: string;
}

/** Runs a gateway until SIGTERM or SIGINT. Resolves with 0 after a complete drain, 1 if it could not listen or cut off requests. */
export async function serve(settings: Settings, { onReady, warnings = [], file }: ServeOptions = {}): Promise<number> {
  const destination = standardOutput();
  const logger = createLogger({ ...settings.log, destination });
  installCrashHandler(logger);
  const ending = new AbortController();
  let gateway: Gateway | undefined;
  let reload: (() => Promise<void>) | undefined;
  const signalled = nextSignal(logger, destination, {
    reload: file === undefined ? undefined : () => void reload?.(),
  });
  logWarnings(logger, warnings);
  gateway = createGateway(settings, {
    logger,
    droppedLines: destination.droppedLines,
    ...(file !== undefined && { settingsFile: file }),
  });
  try {
    const url = await gateway.start();
    onReady?.(url);
  } catch (error) {
    // The admin listener opens first.
    const listener = settings.admin.enabled && gateway.adminUrl === undefined ? 'admin' : 'http';
    process.stderr.write(`portico: ${listenIssue(error, listener)}\n`);
    return 1;
  }
  if (file !== undefined) {
    reload = followSettings({ file, gateway, logger, watch: settings.watchSettings, signal: ending.signal });
  }
  const signal = await signalled;
  ending.abort();
  return (await gateway.close(signal)) ? 0 : 1;
}

const PORT_VARIABLES = { http: 'PORT', admin: 'ADMIN_PORT' };

/** Describes why a listener could not open, and how to change an address that is in use. */
function listenIssue(error: unknown, listener: 'http' | 'admin'): string {
  const { code, address, port = -1 } = error as Partial<NodeJS.ErrnoException & { address: string; port: number }>;
  // Node reports -1 for a socket.
  const failure = (place: string) => `cannot listen on ${place} (${code ?? 'unknown error'})`;
  if (address === undefined) return failure(`${listener}.host`);
  // Also EACCES where there is no such folder.
  if (port < 0)
    return `${failure(address)}; its folder must exist and be writable, and nothing else may be at this path`;
  const cure = `; the address is in use: set ${listener}.port, which the demo takes from the variable ${PORT_VARIABLES[listener]}`;
  return failure(`${address}:${port}`) + (code === 'EADDRINUSE' ? cure : '');
}
