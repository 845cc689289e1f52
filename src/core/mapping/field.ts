import { GatewayError } from '../kernel/errors.ts';
import { isExact } from './exact-numbers.ts';
import { compileExpression } from './expressions/expression.ts';
import type { Page } from './page.ts';
import { epochToTimestamp, toTimestamp } from './timestamp.ts';

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
