import { constants, openSync } from 'node:fs';
import { createRequire } from 'node:module';
import { pino } from 'pino';
import type { PrettyOptions } from 'pino-pretty';
import { type LogDestination, openDestination } from './destination.ts';
import { withVisibleText } from './visible-text.ts';

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
  /** Least severe level that is written. What is put here holds from the next line on. */
  level?: string;
  /** Another one to the same place, with a level of its own and no fields. */
  child?(fields: Record<string, never>, options: { readonly level: string }): Logger;
  /**
   * Writes a line whose fields are text of JSON already, as `"status":200,"outcome":"ok"`, whatever the level is. Only
   * Portico's own logger has it, where lines are JSON: what pino does besides costs more than the rest of a line.
   */
  writeText?(level: Level, fields: string, message: string): void;
}

export interface LoggerOptions {
  /** Least severe level that is written. */
  readonly level: Exclude<Level, 'fatal'> | 'silent';
  /** For a program or for a person; `auto`: for a person where lines go to a terminal. @default json */
  readonly format?: 'auto' | 'json' | 'pretty';
  /** Where lines go. @default standard output, a batch at a time */
  readonly destination?: LogDestination;
}

/** A pino logger. After a `fatal` line, and when the process ends, all is written out at once. */
export function createLogger({ level, format = 'json', destination = standardOutput() }: LoggerOptions): Logger {
  const isPretty = format === 'pretty' || (format === 'auto' && destination.terminal !== undefined);
  const to = visibly(isPretty ? prettily(destination) : destination);
  const logger = pino({ level, base: null, timestamp: timeField, formatters: { level: levelField } }, to);
  if (isPretty) return logger;
  // A child of it has this too: pino makes each with its parent as prototype.
  return Object.assign(logger, {
    writeText(written: Level, fields: string, message: string) {
      to.write(`{"level":"${written}"${timeField()},${fields},"msg":"${message}"}\n`);
    },
  });
}

/** Escapes what a reader cannot see: a subject, for instance, is text that the issuer of a token chooses. */
function visibly(destination: LogDestination): LogDestination {
  return {
    write: (line) => destination.write(withVisibleText(line)),
    flushSync: (waitMs) => destination.flushSync(waitMs),
  };
}

/** Where lines go as a person reads them: time, level and message, the fields behind them, and stacks line by line. */
function prettily(destination: LogDestination): LogDestination {
  // Where nobody looks at a terminal, it is not loaded: it takes 80 ms and 11 MB.
  const { prettyFactory }: { prettyFactory(options: PrettyOptions): (line: string) => string } = createRequire(
    import.meta.url,
  )('pino-pretty');
  const pretty = prettyFactory({
    colorize: destination.terminal?.hasColours ?? false,
    translateTime: 'SYS:HH:MM:ss.l',
    singleLine: true,
    errorLikeObjectKeys: ['stack'],
    // Line by line, without what a terminal obeys: a stack begins with a message.
    customPrettifiers: { stack: (stack) => String(stack).replace(/[^\P{Cc}\n]/gu, ' ') },
  });
  return {
    write: (line) => destination.write(pretty(line)),
    flushSync: (waitMs) => destination.flushSync(waitMs),
  };
}

const streams = new Map<number, LogDestination>();

/** One for the process, so that its lines keep their order. */
function standardStream(fd: 1 | 2): LogDestination {
  const opened = streams.get(fd);
  if (opened !== undefined) return opened;
  // Whoever looks at Node's own stream has it make a pipe non-blocking: a full one must not keep the process from ending.
  const stream = fd === 1 ? process.stdout : process.stderr;
  const destination = stream.isTTY ? openTerminal(fd, stream.hasColors()) : openDestination(fd);
  process.once('exit', () => destination.flushSync());
  streams.set(fd, destination);
  return destination;
}

/**
 * Opens a terminal once more, without waiting: one that was stopped (Ctrl-S) would keep the process from ending. The descriptor
 * that there is belongs to the shell, too, and stays as it is. Where it cannot be opened, it is written to all the same.
 */
function openTerminal(fd: number, hasColours: boolean): LogDestination {
  const terminal = { hasColours };
  try {
    const own = openSync(`/proc/self/fd/${fd}`, constants.O_WRONLY | constants.O_NONBLOCK | constants.O_NOCTTY);
    return openDestination(own, { terminal, takesAtOnce: true });
  } catch {
    return openDestination(fd, { terminal });
  }
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
