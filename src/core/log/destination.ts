import { closeSync, constants, openSync, writeSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { PrettyOptions } from 'pino-pretty';

/** pino accepts it as its stream. */
export interface LogDestination {
  readonly terminal?: { readonly hasColours: boolean } | undefined;
  /** With its line feed. */
  write(line: string): void;
  /** Writes all lines before it returns. Waits at most `waitMs` for a slow reader, then drops the rest. @default 500 */
  flushSync(waitMs?: number): void;
  droppedLines(): number;
}

export interface DestinationOptions extends Pick<LogDestination, 'terminal'> {
  /** Called when a write fails, once until one succeeds again, with the code of Node's error. */
  readonly onFailure?: (code: string | undefined) => void;
}

/** A log file that log rotation can move away. */
export type LogFile = ReturnType<typeof openLogFile>;

/** Text that is held for a slow reader; further lines are dropped and counted. */
const MAX_LENGTH = 4_194_304;
/** A batch of this length is written at once. */
const BATCH_LENGTH = 65_536;
/** Upper bound of the time that a line waits for others. */
const BATCH_MS = 100;
/** Time until a full pipe is tried again. */
const FULL_MS = 20;
/** Time until any other write that failed is tried again. */
const FAILED_MS = 1000;
const LAST_MS = 500;
/** For the owner to write and the group to read: an audit names who read what. */
const MODE = 0o640;

const NOTHING = Buffer.alloc(0);
const LINE_FEED = 10;

/** A pipe must be non-blocking: while it is full, lines are held, up to a bound. After `EPIPE` all lines are discarded. */
export function createDestination(fd: number, { terminal, onFailure }: DestinationOptions = {}) {
  let lines = '';
  /** What is being written, and how much of it is written. */
  let batch: Buffer = NOTHING;
  let offset = 0;
  let timer: NodeJS.Timeout | undefined;
  let isOpen = true;
  let hasFailed = false;
  let droppedLines = 0;
  let reportedLines = 0;

  /** Returns the error that ended it. */
  function writeHeld(): NodeJS.ErrnoException | undefined {
    try {
      for (;;) {
        if (offset === batch.length) {
          if (lines === '') return undefined;
          [batch, offset, lines] = [Buffer.from(lines), 0, ''];
        }
        offset += writeSync(fd, batch, offset);
        hasFailed = false;
      }
    } catch (error) {
      return error as NodeJS.ErrnoException;
    }
  }

  function discard(): void {
    [batch, offset, lines] = [NOTHING, 0, ''];
  }

  function schedule(ms: number): void {
    timer ??= setTimeout(flush, ms).unref();
  }

  function flush(): void {
    clearTimeout(timer);
    timer = undefined;
    const error = writeHeld();
    if (error === undefined) reportDropped();
    else if (error.code === 'EAGAIN') schedule(FULL_MS);
    else fail(error);
  }

  function fail({ code }: NodeJS.ErrnoException): void {
    if (!hasFailed) onFailure?.(code);
    hasFailed = true;
    if (code === 'EPIPE') {
      isOpen = false;
      discard();
    } else {
      schedule(FAILED_MS);
    }
  }

  function reportDropped(): void {
    const dropped = droppedLines - reportedLines;
    if (dropped === 0) return;
    reportedLines = droppedLines;
    write(
      `${JSON.stringify({ level: 'warn', time: new Date().toISOString(), lines: dropped, msg: 'log lines dropped' })}\n`,
    );
  }

  function write(line: string): void {
    if (!isOpen) return;
    if (lines.length + batch.length - offset + line.length > MAX_LENGTH) {
      droppedLines += 1;
      return;
    }
    lines += line;
    if (lines.length > BATCH_LENGTH && offset === batch.length) flush();
    else schedule(BATCH_MS);
  }

  return {
    terminal,
    write,
    droppedLines: () => droppedLines,
    flushSync(waitMs = LAST_MS) {
      const deadline = performance.now() + waitMs;
      let error = writeHeld();
      while (error?.code === 'EAGAIN' && performance.now() < deadline) {
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1);
        error = writeHeld();
      }
      if (error !== undefined) discard();
      reportDropped();
      writeHeld();
    },
    /** Continues with another descriptor, at the beginning of a line, and closes the one before. */
    switchTo(next: number) {
      writeHeld();
      offset = offset === 0 ? 0 : batch.lastIndexOf(LINE_FEED, offset - 1) + 1;
      closeSync(fd);
      fd = next;
      isOpen = true;
      flush();
    },
    close() {
      clearTimeout(timer);
      isOpen = false;
      discard();
      closeSync(fd);
    },
  } satisfies LogDestination & Record<string, unknown>;
}

/** Throws Node's error. */
export function openLogFile(path: string, options: DestinationOptions = {}) {
  const destination = createDestination(openToAppend(path), options);
  const flush = () => destination.flushSync();
  process.once('exit', flush);
  return {
    destination,
    /** After log rotation has moved the file away. Throws Node's error, and keeps the open file then. */
    reopen: () => destination.switchTo(openToAppend(path)),
    close() {
      process.off('exit', flush);
      destination.flushSync();
      destination.close();
    },
  };
}

/** Opens without waiting for a reader: the path can be a pipe. */
function openToAppend(path: string): number {
  return openSync(path, constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | constants.O_NONBLOCK, MODE);
}

const streams = new Map<number, LogDestination>();

/** Opens standard output or error once per process, so that lines keep their order. */
function standardStream(fd: 1 | 2): LogDestination {
  const opened = streams.get(fd);
  if (opened !== undefined) return opened;
  // Opening Node's own stream makes a pipe non-blocking.
  const stream = fd === 1 ? process.stdout : process.stderr;
  const destination = stream.isTTY ? openTerminal(fd, stream.hasColors()) : createDestination(fd);
  process.once('exit', () => destination.flushSync());
  streams.set(fd, destination);
  return destination;
}

/** Opens a terminal again, non-blocking: one that is stopped (Ctrl-S) must not keep the process from ending. */
function openTerminal(fd: number, hasColours: boolean): LogDestination {
  const terminal = { hasColours };
  try {
    const own = openSync(`/proc/self/fd/${fd}`, constants.O_WRONLY | constants.O_NONBLOCK | constants.O_NOCTTY);
    return createDestination(own, { terminal });
  } catch {
    return createDestination(fd, { terminal });
  }
}

/** Returns the destination of `serve`. */
export function standardOutput(): LogDestination {
  return standardStream(1);
}

/** For `stdio`, whose standard output carries MCP. */
export function standardError(): LogDestination {
  return standardStream(2);
}

/** Writes lines for a person: time, level and message, then the fields, and stacks line by line. */
export function prettyDestination(destination: LogDestination): LogDestination {
  // Loaded for terminals only: it takes 80 ms and 11 MB.
  const { prettyFactory }: { prettyFactory(options: PrettyOptions): (line: string) => string } = createRequire(
    import.meta.url,
  )('pino-pretty');
  const pretty = prettyFactory({
    colorize: destination.terminal?.hasColours ?? false,
    translateTime: 'SYS:HH:MM:ss.l',
    singleLine: true,
    errorLikeObjectKeys: ['stack'],
    // Without what a terminal obeys: a stack begins with a message.
    customPrettifiers: { stack: (stack) => String(stack).replace(/[^\P{Cc}\n]/gu, ' ') },
  });
  return { ...destination, write: (line) => destination.write(pretty(line)) };
}
