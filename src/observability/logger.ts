import { createLineWriter, type LineWriter } from './line-writer.ts';

export type Level = 'debug' | 'info' | 'warn' | 'error' | 'fatal';

/** Writes a line that holds `fields` and `message`. */
export interface WriteLine {
  (fields: object, message: string): void;
  (message: string): void;
}

/** Writes one JSON object a line. Nothing that came from outside goes into it as free text. A pino logger fits. */
export type Logger = Readonly<Record<Level, WriteLine>>;

export interface LoggerOptions {
  /** Least severe level that is written. */
  readonly level: Exclude<Level, 'fatal'> | 'silent';
  /** Where lines go. @default standard output, a batch at a time */
  readonly destination?: LineWriter;
}

const LEVELS: readonly (Level | 'silent')[] = ['debug', 'info', 'warn', 'error', 'fatal', 'silent'];

/** A logger. After a `fatal` line, and when the process ends, all is written out at once. */
export function createLogger({ level, destination = standardOutput() }: LoggerOptions): Logger {
  const writerFor = (name: Level): WriteLine => {
    if (LEVELS.indexOf(name) < LEVELS.indexOf(level)) return () => {};
    return (first: object | string, message?: string) => {
      const fields = typeof first === 'string' ? '' : JSON.stringify(first).slice(1, -1);
      const text = JSON.stringify(typeof first === 'string' ? first : message);
      const comma = fields === '' ? '' : ',';
      destination.write(`{"level":"${name}","time":"${isoTime()}",${fields}${comma}"msg":${text}}\n`);
      if (name === 'fatal') destination.flushSync();
    };
  };
  return {
    debug: writerFor('debug'),
    info: writerFor('info'),
    warn: writerFor('warn'),
    error: writerFor('error'),
    fatal: writerFor('fatal'),
  };
}

const streams = new Map<number, LineWriter>();

/** One for the process, so that its lines keep their order. */
function standardStream(fd: number): LineWriter {
  const opened = streams.get(fd);
  if (opened !== undefined) return opened;
  const writer = createLineWriter({ fd });
  process.once('exit', writer.flushSync);
  streams.set(fd, writer);
  return writer;
}

function standardOutput(): LineWriter {
  return standardStream(1);
}

/** Where lines go while standard output is spoken for. */
export function standardError(): LineWriter {
  return standardStream(2);
}

let millisecond = 0;
let time = '';

/** The time of a line, in UTC and made once a millisecond: thousands of lines may be written in a second. */
function isoTime(): string {
  const now = Date.now();
  if (now !== millisecond) {
    millisecond = now;
    time = new Date(now).toISOString();
  }
  return time;
}
