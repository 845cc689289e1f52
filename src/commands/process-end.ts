import { causesOf, nameError } from '../core/kernel/errors.ts';
import type { LogDestination } from '../core/log/destination.ts';
import type { Logger } from '../core/log/logger.ts';
import { listenToSignals, type SignalListener } from './signals.ts';

/** Resolves with the first SIGTERM or SIGINT. A second one ends the process, with the log lines that need no waiting. */
export function nextSignal(
  logger: Logger,
  destination: LogDestination,
  actions: Pick<SignalListener, 'reload'> = {},
): Promise<NodeJS.Signals> {
  return new Promise((drain) => {
    listenToSignals({
      ...actions,
      drain,
      cut() {
        destination.flushSync(0);
        process.exit(1);
      },
      ignored: (signal) => logger.debug({ signal }, 'signal ignored'),
    });
  });
}

/** Ends the process with exit code 1 after an uncaught error, because its effects are unknown, and one line at `fatal`. */
export function installCrashHandler(logger: Logger): void {
  const crash = (error: unknown) => {
    logger.fatal(describeBug(error), 'unhandled error');
    process.exit(1);
  };
  process.on('uncaughtException', crash);
  process.on('unhandledRejection', crash);
}

/** Describes an error without its message, which may contain external text. Never throws. */
export function describeBug(error: unknown): object {
  if (!(error instanceof Error)) return { error: typeof error };
  try {
    return { error: nameError(error), causes: causesOf(error), stack: framesOf(error) };
  } catch {
    return { error: 'Error' };
  }
}

/** Returns the stack frames of an error. The text before them is its message, which may look like frames. */
function framesOf({ message, stack = '' }: Error): string | undefined {
  const found = stack.indexOf(message);
  if (found === -1) return undefined;
  return stack
    .slice(found + message.length)
    .split('\n')
    .filter((line) => line.startsWith('    at '))
    .join('\n');
}
