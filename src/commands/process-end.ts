import { causesOf, nameError } from '../core/kernel/causes.ts';
import type { LogDestination } from '../core/log/destination.ts';
import type { Logger } from '../core/log/logger.ts';
import { listenToSignals } from './signals.ts';

/** What the signals do that end nothing; each is ignored where there is nothing that it could do. */
export interface SignalActions {
  /** Reads the settings again: SIGHUP. */
  readonly reload?: (() => void) | undefined;
  /** Opens files anew that others may have moved away, and says whether there are any: SIGUSR2. */
  readonly reopen?: (() => boolean) | undefined;
}

/**
 * Resolves with the first SIGTERM or SIGINT. A second one ends the process at once, with as much of the log as its reader
 * takes without being waited for.
 */
export function nextSignal(
  logger: Logger,
  destination: LogDestination,
  { reload, reopen }: SignalActions = {},
): Promise<NodeJS.Signals> {
  const ignored = (signal: NodeJS.Signals) => logger.debug({ signal }, 'signal ignored');
  return new Promise((resolve) => {
    listenToSignals({
      drain: resolve,
      ...(reload && { reload }),
      cut() {
        destination.flushSync(0);
        endProcess(1);
      },
      ignored,
      reopen(signal) {
        if (reopen?.() !== true) ignored(signal);
      },
    });
  });
}

/**
 * Ends the process with exit code 1 when an error comes up that nothing has caught: nobody knows what it has left
 * undone. One line at `fatal` says what it was. It is written out before the end, with all lines that wait ahead of it.
 */
export function installCrashHandler(logger: Logger): void {
  const crash = (error: unknown) => {
    logger.fatal(describeBug(error), 'unhandled error');
    endProcess(1);
  };
  process.on('uncaughtException', crash);
  process.on('unhandledRejection', crash);
}

/** A name that is being looked up, as Node calls it. */
const LOOKUP = 'GetAddrInfoReqWrap';

/**
 * Ends the process with this exit code. Node's own end waits for look-ups of names, which its thread pool cannot give up: for as
 * long as a name server is silent, whatever `shutdown.graceMs` says. So while there is one, another program takes the place of
 * this one, and ends with that code.
 */
export function endProcess(code: number): never {
  if (process.execve !== undefined && process.getActiveResourcesInfo().includes(LOOKUP)) {
    // Whoever has something to write does so then.
    process.emit('exit', code);
    process.execve(process.execPath, [process.execPath, '--eval', `process.exit(${code})`], {});
  }
  return process.exit(code);
}

/** An error without its message, which may hold text from outside. Never throws, whatever was thrown. */
export function describeBug(error: unknown): object {
  if (!(error instanceof Error)) return { error: typeof error };
  try {
    return { error: nameError(error), causes: causesOf(error), stack: framesOf(error) };
  } catch {
    return { error: 'Error' };
  }
}

/** Where an error came from. What stands ahead of that in its stack is its message, which may look like frames, too. */
function framesOf({ message, stack = '' }: Error): string | undefined {
  const found = stack.indexOf(message);
  if (found === -1) return undefined;
  return stack
    .slice(found + message.length)
    .split('\n')
    .filter((line) => line.startsWith('    at '))
    .join('\n');
}
