import { constants, openSync } from 'node:fs';
import { createRequire } from 'node:module';
import { pino } from 'pino';
import type { PrettyOptions } from 'pino-pretty';
import { createDestination, type LogDestination } from './destination.ts';

export type Level = 'debug' | 'info' | 'warn' | 'error' | 'fatal';

/** Writes a line that holds `fields` and `message`. */
export interface WriteLine {
  (fields: object, message: string): void;
  (message: string): void;
}

/** Writes one JSON object a line. Nothing that came from outside is written as free text. Any pino logger fits. */
export interface Logger extends Readonly<Record<Level, WriteLine>> {
  /** Whether lines of a level are written. @default all are */
  isLevelEnabled?(level: Level): boolean;
  /** Least severe level that is written. Can be changed. */
  level?: string;
  /** Returns a logger to the same place, with its own level and these fields on each line. */
  child?(fields: object, options: { readonly level: string }): Logger;
}

/** Fields of a line that are serialized, and need none of what `escapeHidden` does: `"ms":0.1,"bytes":2`. */
export class JsonFields {
  readonly json: string;

  constructor(json: string) {
    this.json = json;
  }
}

export interface LoggerOptions {
  /** Least severe level that is written. */
  readonly level: Exclude<Level, 'fatal'> | 'silent';
  /** For a program or for a person; `auto`: for a person where lines go to a terminal. @default json */
  readonly format?: 'auto' | 'json' | 'pretty';
  /** Where lines go. @default standard output */
  readonly destination?: LogDestination;
}

/** Creates a pino logger. After a `fatal` line, and when the process ends, all lines are written out at once. */
export function createLogger({ level, format = 'json', destination = standardOutput() }: LoggerOptions): Logger {
  const isPretty = format === 'pretty' || (format === 'auto' && destination.terminal !== undefined);
  const logger = pino(
    {
      level,
      base: null,
      timestamp: createTimeField(),
      formatters: { level: (name) => ({ level: name }) },
    },
    isPretty ? prettyDestination(destination) : destination,
  );
  return Object.assign(logger, { [pino.symbols.asJsonSym]: serialize });
}

/** What pino has serialized before: levels by their numbers, and the fields of a child logger. */
interface Serialized {
  readonly [pino.symbols.lsCacheSym]: Readonly<Record<number, string>>;
  readonly [pino.symbols.chindingsSym]: string;
}

/** Serializes a line. pino's own function serializes each name and value by itself, which takes twice the time. */
function serialize(this: Serialized, fields: object, message: string, level: number, time: string): string {
  const start = `${this[pino.symbols.lsCacheSym][level]}${time}${this[pino.symbols.chindingsSym]}`;
  if (fields instanceof JsonFields) return `${start},${fields.json},"msg":"${message}"}\n`;
  const own = JSON.stringify(fields).slice(1, -1);
  return escapeHidden(`${start}${own === '' ? '' : ','}${own},"msg":${JSON.stringify(message)}}\n`);
}

/** Whether the fields of a logger's lines may be `JsonFields`. */
export function takesJson(logger: object): boolean {
  return (logger as { [pino.symbols.asJsonSym]?: unknown })[pino.symbols.asJsonSym] === serialize;
}

/** Returns a function that writes pino's field of the time, to the millisecond. All but those is kept for a second. */
function createTimeField(): () => string {
  let second = -1;
  let start = '';
  return () => {
    const now = Date.now();
    const current = Math.floor(now / 1000);
    if (current !== second) {
      second = current;
      start = `,"time":"${new Date(now).toISOString().slice(0, -'000Z'.length)}`;
    }
    return `${start}${String(now % 1000).padStart(3, '0')}Z"`;
  };
}

/** DEL, C1 controls, line and paragraph separators, and format characters: bidi controls, zero-width and tag characters. */
const HIDDEN = /[\x7f-\x9f\p{Cf}\p{Zl}\p{Zp}]/gu;

/**
 * Escapes, in a line of JSON, each character that a terminal obeys or a reader cannot see, as `\u202e` (RFC 8259, section 7).
 * JSON escapes C0 controls itself. The line parses to the same value.
 */
export function escapeHidden(line: string): string {
  // Nearly all lines are ASCII, which takes a quarter of the time to see.
  if (Buffer.byteLength(line) === line.length && !line.includes('\x7f')) return line;
  return line.replace(HIDDEN, (character) =>
    character.replace(/[\s\S]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`),
  );
}

/** Writes lines for a person: time, level and message, then the fields, and stacks line by line. */
function prettyDestination(destination: LogDestination): LogDestination {
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

/** Returns the destination of `stdio`, whose standard output carries MCP. */
export function standardError(): LogDestination {
  return standardStream(2);
}
