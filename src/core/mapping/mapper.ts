import { GatewayError } from '../kernel/errors.ts';
import { compileExpression } from './expressions/expression.ts';
import { isTruthy } from './expressions/jmespath.ts';
import { createField, type FieldOptions } from './field.ts';
import type { MappingCounts } from './findings.ts';
import type { Page } from './page.ts';

export interface MapperOptions {
  /** The documented fields, in the order of items. */
  readonly fields: Readonly<Record<string, FieldOptions>>;
  /** Required fields. */
  readonly required: readonly string[];
  /** Keeps the items for which it is truthy (JMESPath over one item). */
  readonly where?: string | undefined;
  /** Effect of an invalid item: fail the read, or drop and count it. */
  readonly invalidItems: 'fail' | 'drop';
}

/** Maps the items of one page to exactly the documented fields, all strings. */
export interface Mapped extends Omit<MappingCounts, 'overlooked' | 'repeatedIds'> {
  readonly items: readonly Readonly<Record<string, string>>[];
}

/**
 * Compiles settings into a mapper. An item is invalid if a field is (see {@link createField}) or if `where` cannot be
 * evaluated. With `fail`, the mapper throws `upstream_invalid` for the first such item, naming field and index, never a
 * value. `from` and `to` select items of the page.
 */
export function createMapper({
  fields,
  required,
  where,
  invalidItems,
}: MapperOptions): (page: Page, from?: number, to?: number) => Mapped {
  const mapFields = Object.entries(fields).map(([name, field]) => createField(name, field, required.includes(name)));
  // The default expression of a field is its name, which may be absent.
  const own = Object.entries(fields).flatMap(([name, { from }]) => (from === name ? [] : [name]));
  const condition = where === undefined ? undefined : compileExpression(where);

  const isKept = (page: Page, index: number): boolean => {
    if (condition === undefined) return true;
    try {
      return isTruthy(condition.evaluate(page.items[index]));
    } catch (cause) {
      const { reason } = cause as GatewayError;
      throw new GatewayError('upstream_invalid', {
        reason: `where cannot be evaluated over item ${index}: ${reason}`,
        cause,
      });
    }
  };
  const mapItem = (page: Page, index: number, defaults: string[]): Record<string, string> => {
    const item: Record<string, string> = {};
    for (const field of mapFields) {
      const text = field.read(page, index);
      if (text === undefined) defaults.push(field.name);
      item[field.name] = text ?? field.default;
    }
    return item;
  };

  return (page, from = 0, to = page.items.length) => {
    const items: Record<string, string>[] = [];
    const defaulted = new Map<string, number>();
    // Of one item, counted after it has proved valid.
    const defaults: string[] = [];
    // Usually empty after the first item.
    let empty = own;
    let excluded = 0;
    let dropped = 0;
    let dropReason: string | undefined;
    for (let index = from; index < to; index += 1) {
      try {
        if (!isKept(page, index)) {
          excluded += 1;
          continue;
        }
        const item = mapItem(page, index, defaults);
        items.push(item);
        if (empty.length > 0) empty = empty.filter((name) => item[name] === '');
        for (const name of defaults) defaulted.set(name, (defaulted.get(name) ?? 0) + 1);
      } catch (error) {
        if (invalidItems === 'fail' || !(error instanceof GatewayError)) throw error;
        dropped += 1;
        dropReason ??= error.reason;
      }
      defaults.length = 0;
    }
    const received = to - from;
    return { items, received, excluded, dropped, dropReason, defaulted, empty: items.length === 0 ? undefined : empty };
  };
}
