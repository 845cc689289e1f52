import { closeSync, fstatSync, write, writeSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { createBatches } from './batches.ts';

/** Where lines go that need not be on their way at once. Pino takes it for its stream. */
export interface LogDestination {
  /** There where a person looks at what is written. */
  readonly terminal?: { readonly hasColours: boolean } | undefined;
  /** Takes a whole line, its end included. */
  write(line: string): void;
  /**
   * Writes what it holds before it returns, as far as somebody reads it within `waitMs`. The rest is forgotten, so that
   * the next call does not wait again. @default 500
   */
  flushSync(waitMs?: number): void;
  /** Lines that were dropped so far, those included that no line has told of yet. @default nobody counts */
  readonly droppedLines?: number;
}

export interface DestinationOptions extends Pick<LogDestination, 'terminal'> {
  /** Told, once until a write succeeds again, why one did not: the code of Node's error. */
  readonly onFailure?: (code: string | undefined) => void;
  /** Whether a write takes what there is room for, and never waits. @default of pipes and sockets */
  readonly takesAtOnce?: boolean;
}

/** One whose descriptor is its own. */
export interface OwnDestination extends LogDestination {
  /** Goes on with another descriptor from the next whole line on, and closes the one before. */
  switchTo(fd: number): void;
  /** Writes what it holds, as far as that can be done within half a second, and closes its descriptor. */
  close(): Promise<void>;
}

/** Bytes that are held for a slow reader; what comes beyond is dropped, and counted. */
const MAX_BYTES = 4_194_304;
/** How long a line waits for others. */
const PAUSE_MS = 100;
/** Until a pipe that is full is tried again: at first, and as long as it stays full. */
const FULL_MS = { first: 1, most: 20 };
/** Until any other write that failed is tried again: the disk may have room by then. */
const FAILED_MS = 1000;
/** How long the end of the process waits for a reader. */
const LAST_MS = 500;
/** Until a full pipe is tried again then. */
const LAST_TRY_MS = 1;

/**
 * Writes lines to a file descriptor in large batches: to a pipe at once, to anything else one at a time and off the event
 * loop.
 *
 * Never waits for whoever reads: where a pipe stays full, lines are dropped and counted; where nobody reads any more
 * (`EPIPE`), all are forgotten. A pipe must not block: what waits in a write keeps the process from ending.
 */
export function openDestination(opened: number, options: DestinationOptions = {}): OwnDestination {
  const { terminal, onFailure } = options;
  let fd = opened;
  let takesAtOnce = options.takesAtOnce ?? isPipe(fd);
  /** Takes the place of `fd` as soon as no line is half written. */
  let nextFd: number | undefined;
  let hasFailed = false;
  const batches = createBatches();
  /** What is being written, or is about to be tried again. */
  let rest: Buffer | undefined;
  let inThreadPool = false;
  /** How large the file is with all that was written; `undefined` where it is none. */
  let size = sizeOf(fd);
  let fullMs = FULL_MS.first;
  let dropped = 0;
  let droppedLines = 0;
  let isOpen = true;
  let timer: NodeJS.Timeout | undefined;

  function add(line: string): boolean {
    if ((rest?.length ?? 0) + batches.bytes + line.length > MAX_BYTES) return false;
    batches.add(line);
    return true;
  }

  function flush(): void {
    clearTimeout(timer);
    timer = undefined;
    if (rest !== undefined) return;
    takeNext();
    rest = batches.take();
    if (rest !== undefined) writeRest();
  }

  function writeRest(): void {
    if (rest === undefined) return;
    if (!takesAtOnce) {
      inThreadPool = true;
      write(fd, rest, 0, rest.length, null, (error, written) => {
        inThreadPool = false;
        if (error === null) wrote(written);
        else failed(error);
      });
      return;
    }
    let written: number;
    try {
      written = writeSync(fd, rest);
    } catch (error) {
      failed(error as NodeJS.ErrnoException);
      return;
    }
    wrote(written);
  }

  function wrote(written: number): void {
    fullMs = FULL_MS.first;
    hasFailed = false;
    if (size !== undefined) size += written;
    advance(written);
    if (rest !== undefined) writeRest();
    else goOn();
  }

  function takeNext(): void {
    if (nextFd === undefined) return;
    closeSync(fd);
    fd = nextFd;
    nextFd = undefined;
    takesAtOnce = isPipe(fd);
    size = sizeOf(fd);
  }

  /** Gives up a descriptor to which nothing can be written for another one, which begins with a whole line. */
  function moveOn(): void {
    if (rest !== undefined) {
      const batch = Buffer.from(rest.buffer, 0, rest.byteOffset + rest.length);
      const start = rest.byteOffset === 0 ? 0 : batch.lastIndexOf('\n', rest.byteOffset - 1) + 1;
      rest = batch.subarray(start);
    }
    takeNext();
    writeRest();
  }

  function failed({ code }: NodeJS.ErrnoException): void {
    if (nextFd !== undefined) {
      moveOn();
      return;
    }
    if (code !== 'EAGAIN' && !hasFailed) onFailure?.(code);
    hasFailed ||= code !== 'EAGAIN';
    if (code === 'EPIPE') {
      giveUp();
    } else if (code === 'EAGAIN') {
      setTimeout(writeRest, fullMs).unref();
      fullMs = Math.min(2 * fullMs, FULL_MS.most);
    } else {
      setTimeout(writeRest, FAILED_MS).unref();
    }
  }

  function advance(written: number): void {
    if (rest === undefined) return;
    const left = rest.subarray(written);
    if (left.length === 0) batches.reuse(rest);
    rest = left.length === 0 ? undefined : left;
  }

  /** Nobody reads any more, and nobody will. */
  function giveUp(): void {
    isOpen = false;
    rest = undefined;
    batches.clear();
  }

  function goOn(): void {
    tellDropped();
    if (batches.hasFull) flush();
    else if (batches.bytes > 0) schedule();
  }

  function tellDropped(): void {
    if (dropped === 0) return;
    const line = { level: 'warn', time: new Date().toISOString(), lines: dropped, msg: 'log lines dropped' };
    if (add(`${JSON.stringify(line)}\n`)) dropped = 0;
  }

  /** Does not keep the process alive: what is held when it ends is written then. */
  function schedule(): void {
    timer ??= setTimeout(flush, PAUSE_MS).unref();
  }

  return {
    terminal,
    write(line) {
      if (!isOpen) return;
      if (!add(line)) {
        dropped += 1;
        droppedLines += 1;
      }
      if (batches.hasFull) flush();
      else schedule();
    },
    get droppedLines() {
      return droppedLines;
    },
    switchTo(next) {
      if (nextFd !== undefined) closeSync(nextFd);
      nextFd = next;
      isOpen = true;
      if (rest === undefined) takeNext();
    },
    async close() {
      const deadline = performance.now() + LAST_MS;
      flush();
      while ((rest !== undefined || batches.bytes > 0) && isOpen && performance.now() < deadline) {
        await pause(1);
        flush();
      }
      // Never while the thread pool writes to it: by then it might be the descriptor of something else.
      while (inThreadPool) await pause(1);
      isOpen = false;
      rest = undefined;
      takeNext();
      closeSync(fd);
    },
    flushSync(waitMs = LAST_MS) {
      const deadline = performance.now() + waitMs;
      if (inThreadPool) awaitThreadPool(waitMs);
      else if (rest !== undefined) batches.putBack(rest);
      if (!inThreadPool) rest = undefined;
      writeHeld(deadline);
      tellDropped();
      writeHeld(deadline);
    },
  };

  /** What is in the thread pool needs no event loop to come to its end, only time. A file shows when it is in its place. */
  function awaitThreadPool(waitMs: number): void {
    const wanted = size === undefined ? undefined : size + (rest?.length ?? 0);
    const deadline = performance.now() + (wanted === undefined ? FULL_MS.most : Math.max(waitMs, FULL_MS.most));
    do sleepSync(LAST_TRY_MS);
    while (performance.now() < deadline && !(wanted !== undefined && Number(sizeOf(fd)) >= wanted));
  }

  function writeHeld(deadline: number): void {
    let batch = batches.take();
    while (batch !== undefined && writeWhole(batch, deadline)) batch = batches.take();
    // Not from the next batch on: its first line would stand behind half of another.
    batches.clear();
  }

  /** Whether it could. */
  function writeWhole(bytes: Buffer, deadline: number): boolean {
    for (let offset = 0; offset < bytes.length; ) {
      try {
        const written = writeSync(fd, bytes, offset);
        offset += written;
        if (size !== undefined) size += written;
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EAGAIN' || performance.now() >= deadline) return false;
        sleepSync(LAST_TRY_MS);
      }
    }
    return true;
  }
}

/** Whether a write takes what there is room for, and never waits: for it, a trip to the thread pool would cost more. */
function isPipe(fd: number): boolean {
  try {
    const stat = fstatSync(fd);
    return stat.isFIFO() || stat.isSocket();
  } catch {
    return false;
  }
}

/** `undefined` of what is no file. */
function sizeOf(fd: number): number | undefined {
  try {
    const stat = fstatSync(fd);
    return stat.isFile() ? stat.size : undefined;
  } catch {
    return undefined;
  }
}

function sleepSync(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}
