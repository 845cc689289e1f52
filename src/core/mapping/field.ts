import { GatewayError } from '../kernel/errors.ts';
import { isExact } from './exact-numbers.ts';
import { compileExpression } from './expressions/expression.ts';
import type { Page } from './page.ts';
import { epochToTimestamp, toTimestamp } from './timestamp.ts';

/** How one documented field is made of an upstream item. */
export interface FieldOptions {
  /** Where the item holds the value (JMESPath). */
  readonly from: string;
  /** Stands, as it is, where the value is missing or null; with `timestamp`, also where the text is empty. */
  readonly default: string;
  /** From upstream text to documented text, before `format`; other text stays. */
  readonly values: Readonly<Record<string, string>>;
  /** The documented form that the text is brought into. */
  readonly format: 'timestamp' | 'version' | 'none';
}

/** A documented field, compiled. */
export interface Field {
  readonly name: string;
  readonly default: string;
  /**
   * The field's text for an item of a page, by its index; undefined where it takes its default. Throws
   * `upstream_invalid` where the item can have neither.
   */
  read(page: Page, index: number): string | undefined;
}

const VERSION = /^[vV]?(\d+)(?:\.(\d+))?(?:\.(\d+))?([-+]\S*)?$/;

/** `isNumber`: whether the text is that of a JSON number. Undefined for a text that cannot be brought into the form. */
type Format = (text: string, isNumber: boolean) => string | undefined;

const FORMATS: Readonly<Record<FieldOptions['format'], Format>> = {
  timestamp: (text, isNumber) => (isNumber ? epochToTimestamp(text) : toTimestamp(text)),
  version: toVersion,
  none: (text) => text,
};

/**
 * Compiles one field. A value becomes text: booleans as `true` and `false`, numbers as their source text. It is invalid
 * as an object or a list; as a computed number that may have lost digits; as a time that is none; and, where the field
 * is required, as an empty text.
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
    read(page, index) {
      const value = select(page, index);
      const text = isKeptAsItIs && typeof value === 'string' ? value : bringIntoForm(value, page, index);
      if (isRequired && (text ?? options.default) === '') throw invalid(index, 'is required and empty');
      return text;
    },
  };
}

/**
 * Brings a version into the form `<major>.<minor>.<patch>`: `v1.2` is `1.2.0`. A pre-release or build suffix stays
 * (Semantic Versioning 2.0.0, sections 9 and 10). What does not begin like a version (`latest`), or has four parts, is
 * kept as it is, without the space around it.
 */
export function toVersion(text: string): string {
  const trimmed = text.trim();
  const version = VERSION.exec(trimmed);
  if (version === null) return trimmed;
  const [, major, minor = '0', patch = '0', suffix = ''] = version;
  return `${major}.${minor}.${patch}${suffix}`;
}
