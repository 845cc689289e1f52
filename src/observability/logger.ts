import { pino } from 'pino';
import { type LogDestination, openDestination } from './destination.ts';

export type Level = 'debug' | 'info' | 'warn' | 'error' | 'fatal';

/** Writes a line that holds `fields` and `message`. */
export interface WriteLine {
  (fields: object, message: string): void;
  (message: string): void;
}

/** Writes one JSON object a line. Nothing that came from outside goes into it as free text. Any pino logger fits. */
export interface Logger extends Readonly<Record<Level, WriteLine>> {
  /** Whether lines of a level are written. Without it, all are. */
  isLevelEnabled?(level: Level): boolean;
}

export interface LoggerOptions {
  /** Least severe level that is written. */
  readonly level: Exclude<Level, 'fatal'> | 'silent';
  /** Where lines go. @default standard output, a batch at a time */
  readonly destination?: LogDestination;
}

/** A pino logger. After a `fatal` line, and when the process ends, all is written out at once. */
export function createLogger({ level, destination = standardOutput() }: LoggerOptions): Logger {
  return pino({ level, base: null, timestamp: timeField, formatters: { level: levelField } }, destination);
}

const streams = new Map<number, LogDestination>();

/** One for the process, so that its lines keep their order. */
function standardStream(fd: 1 | 2): LogDestination {
  const opened = streams.get(fd);
  if (opened !== undefined) return opened;
  // Whoever looks at Node's own stream has it make a pipe non-blocking: a full one must not keep the process from ending.
  void (fd === 1 ? process.stdout : process.stderr);
  const destination = openDestination(fd);
  process.once('exit', () => destination.flushSync());
  streams.set(fd, destination);
  return destination;
}

/** Where lines go otherwise. */
export function standardOutput(): LogDestination {
  return standardStream(1);
}

/** Where lines go while standard output is spoken for. */
export function standardError(): LogDestination {
  return standardStream(2);
}

function levelField(level: string): object {
  return { level };
}

let millisecond = 0;
let field = '';

/** The time of a line, in UTC and made once a millisecond: thousands of lines may be written in a second. */
function timeField(): string {
  const now = Date.now();
  if (now !== millisecond) {
    millisecond = now;
    field = `,"time":"${new Date(now).toISOString()}"`;
  }
  return field;
}
