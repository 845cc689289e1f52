import type { Config } from '../config/schema/settings.ts';
import { createGateway } from '../gateway.ts';
import { createLogger, standardOutput } from '../observability/logger.ts';
import { installCrashHandler, nextSignal } from './process-end.ts';

export interface ServeOptions {
  /** Called once requests are answered. */
  readonly onReady?: (url: string) => void;
}

/**
 * Runs one gateway from start to its end by SIGTERM or SIGINT. Resolves with the exit code of the process:
 * 0 after a whole drain, 1 when it could not listen or when requests had to be cut off. A second signal ends
 * the process at once.
 */
export async function serve(config: Config, { onReady }: ServeOptions = {}): Promise<number> {
  const destination = standardOutput();
  const logger = createLogger({ level: config.log.level, destination });
  installCrashHandler(logger);
  const signalled = nextSignal(logger, destination);
  const gateway = createGateway(config, { logger });
  try {
    const url = await gateway.start();
    onReady?.(url);
  } catch (error) {
    process.stderr.write(`portico: ${listenIssue(error)}\n`);
    return 1;
  }
  return (await gateway.close(await signalled)) ? 0 : 1;
}

const LISTEN_ISSUES: Readonly<Record<string, string>> = {
  EADDRINUSE: 'something else listens there',
  EACCES: 'that needs more rights than this process has',
  EADDRNOTAVAIL: 'this machine has no such address',
  ENOTFOUND: 'that host name is unknown',
  ENOENT: 'there is no such folder',
};

/** One sentence on why a listener could not open. */
function listenIssue(error: unknown): string {
  const {
    code = 'unknown error',
    address,
    port,
  } = error as NodeJS.ErrnoException & { address?: string; port?: number };
  const place = port === undefined ? (address ?? 'the configured address') : `${address}:${port}`;
  return `cannot listen on ${place}: ${LISTEN_ISSUES[code] ?? 'it failed'} (${code})`;
}
