import { type DestinationStream, destination, type Logger, pino } from 'pino';

export type { Logger } from 'pino';

export interface LoggerOptions {
  /** Least severe level that is written. */
  readonly level: 'debug' | 'info' | 'warn' | 'error' | 'silent';
  /** Where lines go. @default standard output, a batch at a time */
  readonly destination?: DestinationStream;
}

/**
 * Lines are written in batches, off the request's way: by size, or after this many milliseconds, and at the end of
 * the process. Where nobody reads them, those beyond `maxLength` characters are dropped rather than kept in memory.
 * One write is under way at a time, and it ends with a turn of the event loop: under load, with turns of 40 ms, pino's own
 * `maxWrite` of 16 KiB let lines be dropped although somebody read them all.
 */
const BATCHES = { minLength: 8192, periodicFlush: 100, maxWrite: 65_536, maxLength: 4_194_304 };

/** A logger that writes one JSON object a line. Nothing that came from outside goes into it as free text. */
export function createLogger({ level, destination: stream = standardOutput() }: LoggerOptions): Logger {
  return pino({ level, base: null, timestamp: isoTime, formatters: { level: (label) => ({ level: label }) } }, stream);
}

function standardOutput(): DestinationStream {
  return destination({ fd: 1, sync: false, ...BATCHES });
}

/** Where lines go while standard output is spoken for. */
export function standardError(): DestinationStream {
  return destination({ fd: 2, sync: false, ...BATCHES });
}

let millisecond = 0;
let time = '';

/** The time of a line, in UTC and made once a millisecond: thousands of lines may be written in a second. */
function isoTime(): string {
  const now = Date.now();
  if (now !== millisecond) {
    millisecond = now;
    time = `,"time":"${new Date(now).toISOString()}"`;
  }
  return time;
}
