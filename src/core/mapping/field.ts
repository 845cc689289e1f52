import { GatewayError } from '../kernel/errors.ts';
import { isExact } from './exact-numbers.ts';
import { compileExpression } from './expressions/expression.ts';
import type { Page } from './page.ts';

/** Settings of one documented field. */
export interface FieldOptions {
  /** Place of the value in the item (JMESPath). */
  readonly from: string;
  /** Used unchanged when the value is missing or null; with `timestamp`, also when it is empty. */
  readonly default: string;
  /** Maps upstream texts to documented ones, before `format`; other texts are unchanged. */
  readonly values: Readonly<Record<string, string>>;
  /** Documented form of the text. */
  readonly format: 'timestamp' | 'version' | 'none';
}

/** A compiled field. */
export interface Field {
  readonly name: string;
  readonly default: string;
  /** Texts that `values` maps to. Undefined without any, and with a format, which changes them. */
  readonly mapped: ReadonlySet<string> | undefined;
  /**
   * Returns the field's text for an item of a page, by index; undefined for its default. Throws `upstream_invalid` for
   * an invalid value.
   */
  read(page: Page, index: number): string | undefined;
}

/** Matches the documented form, which most platforms send: takes a fifth of the time of the pattern below. */
const DOCUMENTED_VERSION = /^\d+\.\d+\.\d+$/;
const VERSION = /^[vV]?(\d+)(?:\.(\d+))?(?:\.(\d+))?([-+]\S*)?$/;

/** `isNumber`: whether the text is a JSON number. Undefined for a text that cannot be formatted. */
type Format = (text: string, isNumber: boolean) => string | undefined;

const FORMATS: Readonly<Record<FieldOptions['format'], Format>> = {
  timestamp: (text, isNumber) => (isNumber ? epochToTimestamp(text) : toTimestamp(text)),
  version: toVersion,
  none: (text) => text,
};

/**
 * Compiles one field. Booleans become `true` and `false`, numbers their source text. Invalid: objects, lists, computed
 * numbers that may have lost digits, texts that are not timestamps, and empty texts of required fields.
 */
export function createField(name: string, options: FieldOptions, isRequired: boolean): Field {
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
    if (formed === undefined) throw invalid(index, 'is no time');
    return formed;
  }

  return {
    name,
    default: options.default,
    mapped: values.size > 0 && options.format === 'none' ? new Set(values.values()) : undefined,
    read(page, index) {
      const value = select(page, index);
      const text = isKeptAsItIs && typeof value === 'string' ? value : bringIntoForm(value, page, index);
      if (isRequired && (text ?? options.default) === '') throw invalid(index, 'is required and empty');
      return text;
    },
  };
}

/**
 * Formats a version as `<major>.<minor>.<patch>`: `v1.2` becomes `1.2.0`. Pre-release and build suffixes stay (Semantic
 * Versioning 2.0.0, sections 9 and 10). Other texts (`latest`, four parts) are only trimmed.
 */
export function toVersion(text: string): string {
  if (DOCUMENTED_VERSION.test(text)) return text;
  const trimmed = text.trim();
  const version = VERSION.exec(trimmed);
  if (version === null) return trimmed;
  const [, major, minor = '0', patch = '0', suffix = ''] = version;
  return `${major}.${minor}.${patch}${suffix}`;
}

/** Longest text that is parsed as a time, so that an upstream cannot decide how long parsing takes. */
const MAX_LENGTH = 64;
/** Nine digits and more: fewer are a year, an ordinal or a basic date. */
const EPOCH = /^-?\d{9,}(?:\.\d+)?$/;
/** Numbers from this size on are milliseconds: as seconds they would be beyond the year 5138. */
const LEAST_MILLISECONDS = 1e11;
const EXPONENT = /[eE]/;
const NOT_ZERO = /[1-9]/;

/** Matches the documented form on days that every month has: such a text needs no conversion. */
const DOCUMENTED = /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d+)?Z$/;
const SEPARATOR = /[Tt ]/;
const CALENDAR = /^(\d{4})(?:-(\d\d)(?:-(\d\d))?|(\d\d)(\d\d))?$/;
const ORDINAL = /^(\d{4})-?(\d{3})$/;
const WEEK = /^(\d{4})(?:-W(\d\d)(?:-(\d))?|W(\d\d)(\d)?)$/;
const TIME = /^(\d\d)(?::(\d\d)(?::(\d\d)(?:[.,](\d+))?)?|(\d\d)(?:(\d\d)(?:[.,](\d+))?)?)?(.*)$/;
const OFFSET = /^(?:|[Zz]|([+-])(\d\d)(?::?(\d\d))?)$/;

const DAY_MS = 86_400_000;
const MINUTES_OF_DAY = 1440;
/** Years of four digits. */
const FIRST_MS = Date.UTC(-1, 12);
const LAST_MS = Date.UTC(10_000, 0) - 1;

/**
 * Converts a time to ISO 8601 UTC, `YYYY-MM-DDTHH:MM:SS[.fraction]Z`, with all its fraction digits.
 *
 * A text of nine digits and more, with or without a fraction, is an epoch: seconds below 1e11, otherwise milliseconds.
 * Other texts are ISO 8601. Returns undefined for all else, for times that do not exist (2024-02-30, 25:00), outside the
 * years 0000 to 9999, and above 64 characters.
 */
export function toTimestamp(text: string): string | undefined {
  if (text.length > MAX_LENGTH) return undefined;
  return EPOCH.test(text) ? epochToTimestamp(text) : isoToTimestamp(text);
}

/** As {@link toTimestamp}, for the text of a JSON number, which is always an epoch. */
export function epochToTimestamp(text: string): string | undefined {
  if (text.length > MAX_LENGTH) return undefined;
  if (EXPONENT.test(text)) {
    const plain = String(Number(text));
    return EXPONENT.test(plain) ? undefined : epochToTimestamp(plain);
  }
  const [whole = '', written = ''] = text.split('.');
  const isBefore = text.startsWith('-');
  if (Math.abs(Number(whole)) >= LEAST_MILLISECONDS) {
    const fraction = whole.slice(-3) + written;
    return secondsToTimestamp(Number(whole.slice(0, -3)), NOT_ZERO.test(fraction) ? fraction : '', isBefore);
  }
  return secondsToTimestamp(Number(whole), written, isBefore);
}

function secondsToTimestamp(whole: number, fraction: string, isBefore: boolean): string | undefined {
  if (!(isBefore && NOT_ZERO.test(fraction))) return utcText(whole * 1000, 0, fraction);
  // Relative to the second before: a fraction of 25 before it is one of 75 after.
  const behind = 10n ** BigInt(fraction.length) - BigInt(fraction);
  return utcText((whole - 1) * 1000, 0, String(behind).padStart(fraction.length, '0'));
}

/**
 * Converts a date, or date and time, of ISO 8601-1:2019: calendar, ordinal and week dates, extended and basic. A date of
 * reduced precision is its first day; a time without an offset is UTC. `t`, `z` and a space instead of `T` are accepted
 * (RFC 3339, section 5.6). Only seconds have a fraction.
 */
function isoToTimestamp(text: string): string | undefined {
  if (DOCUMENTED.test(text)) return text;
  const separator = text.search(SEPARATOR);
  if (separator < 0) return utcText(msOf(text, true), 0, '');
  return timeToTimestamp(msOf(text.slice(0, separator), false), text.slice(separator + 1));
}

/** Milliseconds from 1970 to a date; NaN if it does not exist, or is reduced where that is not allowed. */
function msOf(date: string, mayBeReduced: boolean): number {
  const calendar = CALENDAR.exec(date);
  const first = mayBeReduced ? '01' : undefined;
  if (calendar !== null) {
    const [, year, month = calendar[4], day = calendar[5]] = calendar;
    return msOfDate(year, month ?? first, day ?? first);
  }
  const [, year, ordinal] = ORDINAL.exec(date) ?? [];
  if (year !== undefined) return sameYear(year, msOfDate(year, '01', '01') + (Number(ordinal) - 1) * DAY_MS);
  const week = WEEK.exec(date);
  return week === null ? Number.NaN : msOfWeekDay(week[1], week[2] ?? week[4], week[3] ?? week[5] ?? first);
}

function msOfDate(year = '', month = '', day = ''): number {
  const ms = Date.parse(`${year}-${month}-${day}T00:00Z`);
  // 30 February would be 1 March.
  return new Date(ms).getUTCDate() === Number(day) ? ms : Number.NaN;
}

/** Weeks begin on Monday, and belong to the year of their Thursday: 4 January is in week 1. */
function msOfWeekDay(year = '', week = '', weekday = ''): number {
  const fourth = msOfDate(year, '01', '04');
  const monday = fourth - ((new Date(fourth).getUTCDay() + 6) % 7) * DAY_MS + (Number(week) - 1) * 7 * DAY_MS;
  const isDay = Number(week) >= 1 && Number(weekday) >= 1 && Number(weekday) <= 7;
  return isDay ? sameYear(year, monday + 3 * DAY_MS) + (Number(weekday) - 4) * DAY_MS : Number.NaN;
}

function sameYear(year: string, ms: number): number {
  return new Date(ms).getUTCFullYear() === Number(year) ? ms : Number.NaN;
}

function timeToTimestamp(midnightMs: number, text: string): string | undefined {
  const time = TIME.exec(text);
  const offset = time && OFFSET.exec(time[8] ?? '');
  if (!time || !offset) return undefined;
  const [, hour, minute = time[5] ?? '0', second = time[6] ?? '0', fraction = time[7] ?? ''] = time;
  const minutes = Number(hour) * 60 + Number(minute);
  if (Number(minute) > 59 || minutes > MINUTES_OF_DAY) return undefined;
  // 24:00 is the end of the day; later times belong to the next one.
  if (minutes === MINUTES_OF_DAY && NOT_ZERO.test(second + fraction)) return undefined;
  const [, sign, offsetHour = '0', offsetMinute = '0'] = offset;
  if (Number(offsetHour) > 23 || Number(offsetMinute) > 59) return undefined;
  const ahead = Number(offsetHour) * 60 + Number(offsetMinute);
  return utcText(midnightMs + 60_000 * (sign === '-' ? minutes + ahead : minutes - ahead), Number(second), fraction);
}

/** The documented form of a minute and a second; undefined for NaN. Second 60 is a leap second, at 23:59 UTC only. */
function utcText(minuteMs: number, second: number, fraction: string): string | undefined {
  const ms = minuteMs + 1000 * Math.min(second, 59);
  if (!(second <= 60 && ms >= FIRST_MS && ms <= LAST_MS)) return undefined;
  const text = new Date(ms).toISOString();
  if (second === 60 && text.slice(11, 16) !== '23:59') return undefined;
  const seconds = second === 60 ? '60' : text.slice(17, 19);
  return `${text.slice(0, 17)}${seconds}${fraction === '' ? '' : `.${fraction}`}Z`;
}
