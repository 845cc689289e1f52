import { write as fsWrite, writeSync } from 'node:fs';

/** Where lines go that need not be on their way at once. */
export interface LineWriter {
  /** Takes a whole line, its end included. */
  write(line: string): void;
  /** Writes what it holds before it returns, as far as somebody reads it within a second. */
  flushSync(): void;
}

export interface LineWriterOptions {
  /** File descriptor: 1 is standard output. */
  readonly fd: number;
  /** What is written by. @default `fs.write` */
  readonly write?: (
    fd: number,
    bytes: Buffer,
    offset: number,
    done: (error: NodeJS.ErrnoException | null, written: number) => void,
  ) => void;
}

/** Characters that are worth a write of their own. */
const BATCH_LENGTH = 65_536;
/** How long a line waits for others. */
const PAUSE_MS = 100;
/** Characters that are held for a reader who is slow; what comes beyond is dropped, and counted. */
const MAX_LENGTH = 4_194_304;
/** Until a pipe that is full is tried again. */
const FULL_MS = 20;
/** How often that is done before the process ends. */
const LAST_TRIES = 50;

/**
 * Writes lines in large batches, one write at a time, off the event loop. A write costs as much as many requests do, so
 * that one for every few lines would be the dearest part of a cached read.
 */
export function createLineWriter({ fd, write = writeAt }: LineWriterOptions): LineWriter {
  let held = '';
  let dropped = 0;
  let writing = false;
  let broken = false;
  let timer: NodeJS.Timeout | undefined;

  function flush(): void {
    clearTimeout(timer);
    timer = undefined;
    if (writing || held === '') return;
    const bytes = Buffer.from(held);
    held = '';
    writing = true;
    writeRest(bytes, 0);
  }

  function writeRest(bytes: Buffer, offset: number): void {
    write(fd, bytes, offset, (error, written) => {
      if (error?.code === 'EAGAIN') setTimeout(writeRest, FULL_MS, bytes, offset);
      else if (error !== null) giveUp();
      else if (offset + written < bytes.length) writeRest(bytes, offset + written);
      else goOn();
    });
  }

  /** Nobody reads any more, and nobody will. */
  function giveUp(): void {
    broken = true;
    held = '';
  }

  function goOn(): void {
    writing = false;
    if (dropped > 0) {
      held += `${JSON.stringify({ level: 'warn', time: new Date().toISOString(), lines: dropped, msg: 'log lines dropped' })}\n`;
      dropped = 0;
    }
    if (held.length >= BATCH_LENGTH) flush();
    else if (held !== '') schedule();
  }

  /** Does not keep the process alive: what is held when it ends is written then. */
  function schedule(): void {
    timer ??= setTimeout(flush, PAUSE_MS).unref();
  }

  return {
    write(line) {
      if (broken) return;
      if (held.length + line.length > MAX_LENGTH) {
        dropped += 1;
        return;
      }
      held += line;
      if (held.length >= BATCH_LENGTH) flush();
      else schedule();
    },
    flushSync() {
      // The write under way needs no event loop to come to its end, only time.
      if (writing) sleepSync(FULL_MS);
      let bytes = Buffer.from(held);
      held = '';
      for (let tries = 0; bytes.length > 0 && tries < LAST_TRIES; ) {
        try {
          bytes = bytes.subarray(writeSync(fd, bytes));
        } catch (error) {
          if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') return;
          tries += 1;
          sleepSync(FULL_MS);
        }
      }
    },
  };
}

function writeAt(
  fd: number,
  bytes: Buffer,
  offset: number,
  done: (error: NodeJS.ErrnoException | null, written: number) => void,
): void {
  fsWrite(fd, bytes, offset, bytes.length - offset, null, done);
}

function sleepSync(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}
