import { constants, openSync } from 'node:fs';
import { type DestinationOptions, type LogDestination, openDestination } from './destination.ts';

/** A file to which lines are added, and which others may move away. */
export interface LogFile {
  readonly destination: LogDestination;
  /** Opens the file of this name anew: what comes from now on goes there. Throws Node's error where it cannot; nothing has changed then. */
  reopen(): void;
  /** Writes what is held, and closes it. */
  close(): Promise<void>;
}

/** For its owner to write and its group to read: it says who has read what. */
const MODE = 0o640;

/** Opens a file to add lines to; one that is not there is made. Throws Node's error where it cannot. */
export function openLogFile(path: string, options: DestinationOptions = {}): LogFile {
  const destination = openDestination(open(path), options);
  const flush = () => destination.flushSync();
  process.once('exit', flush);
  return {
    destination,
    reopen: () => destination.switchTo(open(path)),
    async close() {
      process.off('exit', flush);
      await destination.close();
    },
  };
}

/** Does not wait for the reader of a pipe. */
function open(path: string): number {
  return openSync(path, constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | constants.O_NONBLOCK, MODE);
}
