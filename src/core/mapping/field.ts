import { GatewayError } from '../kernel/errors.ts';
import { compileExpression } from './expressions/expression.ts';
import { isExact } from './json-source.ts';
import type { Page } from './page.ts';

/** Settings of one documented field. */
export interface FieldOptions {
  readonly from: string;
  /** Used unchanged when the value is missing or null; with `timestamp`, also when it is empty. */
  readonly default: string;
  /** Maps upstream texts to documented ones, before `format`. */
  readonly values: Readonly<Record<string, string>>;
  readonly format: 'timestamp' | 'version' | 'none';
}

export type Field = ReturnType<typeof createField>;

/** Takes a fifth of the time of the pattern below. */
const DOCUMENTED_VERSION = /^\d+\.\d+\.\d+$/;
const VERSION = /^[vV]?(\d+)(?:\.(\d+))?(?:\.(\d+))?([-+]\S*)?$/;

/** Undefined for a text that cannot be formatted. */
type Format = (text: string, isNumber: boolean) => string | undefined;

const FORMATS: Readonly<Record<FieldOptions['format'], Format>> = {
  timestamp: (text, isNumber) => (isNumber ? epochToTimestamp(text) : toTimestamp(text)),
  version: toVersion,
  none: (text) => text,
};

/** Compiles one field. Objects, lists, numbers that may have lost digits, and empty texts of required fields are invalid. */
export function createField(name: string, options: FieldOptions, isRequired: boolean) {
  const expression = compileExpression(options.from);
  const values = new Map(Object.entries(options.values));
  const format = FORMATS[options.format];
  const isKeptAsItIs = values.size === 0 && options.format === 'none';
  const invalid = (index: number, what: string, cause?: unknown) =>
    new GatewayError('upstream_invalid', { reason: `field ${name} of item ${index} ${what}`, cause });

  function select(page: Page, index: number): unknown {
    try {
      return expression.evaluate(page.items[index]);
    } catch (cause) {
      throw invalid(index, `cannot be evaluated: ${(cause as GatewayError).reason}`, cause);
    }
  }

  function write(value: unknown, page: Page, index: number): string {
    if (typeof value === 'string') return value;
    if (typeof value === 'boolean') return String(value);
    if (typeof value !== 'number') throw invalid(index, 'is an object or a list');
    const exact = expression.direct ? page.exactItems() : undefined;
    const source = exact === undefined ? value : expression.evaluate(exact[index]);
    if (typeof source === 'string') return source;
    if (!isExact(value)) throw invalid(index, 'is a number that may have lost digits');
    return String(value);
  }

  function bringIntoForm(value: unknown, page: Page, index: number): string | undefined {
    if (value === null) return undefined;
    const written = write(value, page, index);
    const named = values.get(written);
    const text = named ?? written;
    if (text === '' && options.format === 'timestamp') return undefined;
    const formed = format(text, typeof value === 'number' && named === undefined);
    if (formed === undefined) throw invalid(index, 'is not a timestamp');
    return formed;
  }

  return {
    name,
    default: options.default,
    /** Texts that `values` maps to. Undefined without any, and with a format, which changes them. */
    mapped: values.size > 0 && options.format === 'none' ? new Set(values.values()) : undefined,
    /** Returns the field's text, or undefined for its default. Throws `upstream_invalid` for an invalid value. */
    read(page: Page, index: number): string | undefined {
      const value = select(page, index);
      const text = isKeptAsItIs && typeof value === 'string' ? value : bringIntoForm(value, page, index);
      if (isRequired && (text ?? options.default) === '') throw invalid(index, 'is required and empty');
      return text;
    },
  };
}

/** Formats `<major>.<minor>.<patch>` with suffixes (Semantic Versioning 2.0.0). Other texts (`latest`) are only trimmed. */
export function toVersion(text: string): string {
  if (DOCUMENTED_VERSION.test(text)) return text;
  const trimmed = text.trim();
  const version = VERSION.exec(trimmed);
  if (version === null) return trimmed;
  const [, major, minor = '0', patch = '0', suffix = ''] = version;
  return `${major}.${minor}.${patch}${suffix}`;
}

/** An upstream must not decide how long parsing takes. */
const MAX_LENGTH = 64;
/** Nine digits and more: fewer are a basic date. */
const EPOCH = /^-?\d{9,}(?:\.\d+)?$/;
/** Numbers from this size on are milliseconds: as seconds they would be beyond the year 5138. */
const LEAST_MILLISECONDS = 1e11;
/** As an epoch in milliseconds, in the year 2286 at least. */
const FOURTEEN_DIGITS = /^\d{14}$/;
/** An epoch in microseconds or nanoseconds, since September 2001. */
const FINE_EPOCH = /^(\d{10})(\d{6}|\d{9})$/;
/** A date and time in 12 or 14 digits. */
const COMPACT = /^((?:19[7-9]|20\d)\d)(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])([01]\d|2[0-3])([0-5]\d)([0-5]\d)?$/;

/** Documented form, on days that every month has: it needs no conversion. */
const DOCUMENTED = /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d+)?Z$/;
const DATE = /^(\d{4})-?(0[1-9]|1[0-2])-?(0[1-9]|[12]\d|3[01])$/;
const TIME =
  /^([01]\d|2[0-3]):?([0-5]\d)(?::?([0-5]\d)(?:[.,](\d+))?)?(?:[Zz]| UTC| ?([+-](?:[01]\d|2[0-3]))(?::?([0-5]\d))?(?: UTC)?)?(?:\[[\w/+-]+\])?$/;

/** An epoch in milliseconds, as .NET writes it. The offset is that of the writer. */
const NET = /^\/Date\((-?\d+)(?:[+-]\d{4})?\)\/$/;

const FIRST_MS = Date.UTC(-1, 12);
const LAST_MS = Date.UTC(10_000, 0) - 1;

/**
 * Converts a time to ISO 8601 UTC; undefined for what is none, or outside the years 0000 to 9999. Nine digits and more are an
 * epoch.
 */
export function toTimestamp(text: string): string | undefined {
  if (text.length > MAX_LENGTH) return undefined;
  if (text.endsWith(' GMT')) return httpDateToTimestamp(text);
  const ms = NET.exec(text)?.[1];
  if (ms !== undefined) return utcText(Number(ms));
  return EPOCH.test(text) ? epochToTimestamp(text) : isoToTimestamp(text);
}

/** Converts an HTTP date (RFC 9110, section 5.6.7), which Flask writes by default: `Mon, 06 May 2024 07:08:09 GMT`. */
function httpDateToTimestamp(text: string): string | undefined {
  const ms = Date.parse(text);
  return new Date(ms).toUTCString() === text ? utcText(ms) : undefined;
}

/** The text of a JSON number is an epoch, or a date and time in 12 or 14 digits. */
export function epochToTimestamp(text: string): string | undefined {
  const [, year, month, day, hour, minute, second = '00'] = COMPACT.exec(text) ?? [];
  if (year !== undefined) return isoToTimestamp(`${year}-${month}-${day}T${hour}:${minute}:${second}`);
  const [, seconds, fraction] = FINE_EPOCH.exec(text) ?? [];
  if (seconds !== undefined) return utcText(Number(seconds) * 1000, fraction);
  if (FOURTEEN_DIGITS.test(text) || text.length > MAX_LENGTH) return undefined;
  const number = Number(text);
  return utcText(Math.round(Math.abs(number) < LEAST_MILLISECONDS ? number * 1000 : number));
}

/** Converts a calendar date of ISO 8601-1:2019, or date and time, the forms of RFC 3339, section 5.6, of RFC 9557, or of Ruby and Go. UTC by default. */
function isoToTimestamp(text: string): string | undefined {
  if (DOCUMENTED.test(text)) return text;
  const [written = '', clock = '00:00'] = text.split(/[Tt ](.*)/, 2);
  const [, year, month, day] = DATE.exec(written) ?? [];
  const date = `${year}-${month}-${day}`;
  const time = TIME.exec(clock);
  // 30 February would be 1 March.
  if (time === null || new Date(`${date}T00:00Z`).getUTCDate() !== Number(day)) return undefined;
  const [, hour, minute, second = '00', fraction = '', offsetHour = '+00', offsetMinute = '00'] = time;
  return utcText(Date.parse(`${date}T${hour}:${minute}:${second}${offsetHour}:${offsetMinute}`), fraction);
}

/** `fraction`: digits of the second. @default the milliseconds, if any */
function utcText(ms: number, fraction?: string): string | undefined {
  if (!(ms >= FIRST_MS && ms <= LAST_MS)) return undefined;
  const text = new Date(ms).toISOString();
  const digits = fraction ?? text.slice(20, 23).replace('000', '');
  return `${text.slice(0, 19)}${digits && '.'}${digits}Z`;
}
