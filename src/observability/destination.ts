import { destination as openStream } from 'pino';

/** Where lines go that need not be on their way at once. */
export interface LogDestination {
  /** Takes a whole line, its end included. */
  write(line: string): void;
  /** Writes what it holds before it returns, as far as somebody reads it within a second. */
  flushSync(): void;
}

/** Bytes of one write. Each is a trip to the thread pool that costs as much as many requests do. */
const BATCH_BYTES = 65_536;
/** Bytes that are worth a write of their own: a batch without room for one more line. */
const FULL_BATCH_BYTES = 61_440;
/** Bytes that are held for a slow reader; what comes beyond is dropped, and counted. */
const MAX_BYTES = 4_194_304;
/** How long a line waits for others. */
const PAUSE_MS = 100;
/** How long the end of the process waits for a reader. */
const LAST_MS = 1000;
/** How long a write under way is given to come to its end, which needs no event loop, only time. */
const UNDER_WAY_MS = 20;

/**
 * Pino's own destination (sonic-boom) for a file descriptor: it writes large batches off the event loop, one at a time,
 * and tries again where a pipe is full. Lines are handed to it as bytes: as text, it would measure the whole batch again
 * with each line.
 *
 * Added to it here: dropped lines are told in a line of their own, and `flushSync` comes to an end. The library's tries
 * for ever where nobody reads any more (`EPIPE`) and where the descriptor is gone (`EBADF`).
 */
export function openDestination(fd: number): LogDestination {
  let isOpen = true;
  let deadline = Number.POSITIVE_INFINITY;
  let accepted = true;
  let dropped = 0;
  const isLate = () => performance.now() > deadline;

  const stream = openStream({
    dest: fd,
    sync: false,
    contentMode: 'buffer',
    minLength: FULL_BATCH_BYTES,
    maxWrite: BATCH_BYTES,
    maxLength: MAX_BYTES,
    periodicFlush: PAUSE_MS,
    retryEAGAIN: () => !isLate(),
  });
  const flushSync = stream.flushSync.bind(stream);
  // The library asks for `fd` ahead of each try. The one error that it lets end its tries is this, when it is late.
  Object.defineProperty(stream, 'fd', {
    get: () => {
      if (isLate()) throw Object.assign(new Error('nobody reads the log'), { code: 'EAGAIN' });
      return fd;
    },
  });
  // Pino calls this one at the end of the process, too.
  stream.flushSync = flushWithinASecond;
  stream.on('drop', () => {
    accepted = false;
  });
  // There may be room again.
  stream.on('write', tellDropped);
  // Nobody reads any more, and nobody will. Any other error may pass, such as that of a full disk: it tries again.
  stream.prependListener('error', ({ code }: NodeJS.ErrnoException) => {
    if (code !== 'EPIPE') return;
    isOpen = false;
    stream.destroy();
  });

  /** Whether there was room for it. */
  function add(line: string): boolean {
    accepted = true;
    // In this mode it takes bytes, whatever its types say.
    stream.write(Buffer.from(line) as unknown as string);
    return accepted;
  }

  function tellDropped(): void {
    if (dropped === 0) return;
    const line = { level: 'warn', time: new Date().toISOString(), lines: dropped, msg: 'log lines dropped' };
    if (add(`${JSON.stringify(line)}\n`)) dropped = 0;
  }

  function flushWithinASecond(): void {
    if (!isOpen) return;
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, UNDER_WAY_MS);
    deadline = performance.now() + LAST_MS;
    try {
      flushSync();
      tellDropped();
      flushSync();
    } catch {
      isOpen = false;
    } finally {
      deadline = Number.POSITIVE_INFINITY;
    }
  }

  return {
    write(line) {
      if (isOpen && !add(line)) dropped += 1;
    },
    flushSync: flushWithinASecond,
  };
}
