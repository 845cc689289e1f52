import { constants, openSync, writeSync } from 'node:fs';

/** pino accepts it as its stream. */
export interface LogDestination {
  readonly terminal?: { readonly hasColours: boolean } | undefined;
  /** With its line feed. */
  write(line: string): void;
  /** Writes all lines before it returns. Waits at most `waitMs` for a slow reader, then drops the rest. @default 500 */
  flushSync(waitMs?: number): void;
  droppedLines(): number;
}

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

const NOTHING = Buffer.alloc(0);

/** A pipe must be non-blocking: while it is full, lines are held, up to a bound. After `EPIPE` all lines are dropped. */
export function createDestination(fd: number, { terminal }: Pick<LogDestination, 'terminal'> = {}): LogDestination {
  let lines = '';
  /** The bytes that are being written, and how many of them are. */
  let batch: Buffer = NOTHING;
  let offset = 0;
  let timer: NodeJS.Timeout | undefined;
  let isOpen = true;
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
    else if (error.code !== 'EPIPE') schedule(FAILED_MS);
    else {
      isOpen = false;
      discard();
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
    if (!isOpen || lines.length + batch.length - offset + line.length > MAX_LENGTH) {
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
  };
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
