import { compileExpression } from './expression.ts';
import { invalid } from './invalid.ts';
import { isExact } from './json-value.ts';
import type { Page } from './page.ts';
import { epochToTimestamp } from './time/epoch.ts';
import { toTimestamp } from './timestamp.ts';
import { toVersion } from './version.ts';

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
  /** The field's text for an item of a page, by its index. Throws `upstream_invalid` where the item has none. */
  read(page: Page, index: number): string;
}

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
  const mistake = (index: number, what: string, cause?: unknown) =>
    invalid(`field ${name} of item ${index} ${what}`, cause);

  function select(page: Page, index: number): unknown {
    try {
      return expression.evaluate(page.items[index]);
    } catch (error) {
      throw mistake(index, 'cannot be evaluated', error);
    }
  }

  function write(value: unknown, page: Page, index: number): string {
    if (typeof value === 'string') return value;
    if (typeof value === 'boolean') return String(value);
    if (typeof value !== 'number') throw mistake(index, 'is an object or a list');
    const exact = expression.direct ? page.exactItems() : undefined;
    const source = exact === undefined ? value : expression.evaluate(exact[index]);
    if (typeof source === 'string') return source;
    if (!isExact(value)) throw mistake(index, 'is a number that may have lost digits');
    return String(value);
  }

  function bringIntoForm(value: unknown, page: Page, index: number): string {
    if (value === null) return options.default;
    const written = write(value, page, index);
    const named = values.get(written);
    const text = named ?? written;
    if (text === '' && options.format === 'timestamp') return options.default;
    const formed = format(text, typeof value === 'number' && named === undefined);
    if (formed === undefined) throw mistake(index, 'is no time');
    return formed;
  }

  return {
    name,
    read(page, index) {
      const value = select(page, index);
      const text = isKeptAsItIs && typeof value === 'string' ? value : bringIntoForm(value, page, index);
      if (text === '' && isRequired) throw mistake(index, 'is required and empty');
      return text;
    },
  };
}
