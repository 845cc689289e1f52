import { GatewayError } from '../kernel/errors.ts';
import type { MappingFinding } from '../kernel/events.ts';
import { compileExpression } from './expressions/expression.ts';
import { isTruthy } from './expressions/jmespath.ts';
import { createField, type Field, type FieldOptions } from './field.ts';
import type { Page } from './page.ts';

export interface MapperOptions {
  readonly fields: Readonly<Record<string, FieldOptions>>;
  readonly required: readonly string[];
  readonly where?: string | undefined;
  readonly invalidItems: 'fail' | 'drop';
}

export interface MappingCounts {
  readonly received: number;
  readonly excluded: number;
  readonly dropped: number;
  /** Names fields and places, never values. */
  readonly dropReason?: string | undefined;
  readonly repeatedIds: number;
  /** What the items expression missed, with figures. */
  readonly overlooked?: string | undefined;
  /** Remaining items that took a field's default, by field. */
  readonly defaulted: ReadonlyMap<string, number>;
  /** Items, dropped ones included, in which the upstream fills a field, by field. */
  readonly filled: ReadonlyMap<string, number>;
  /** Number of these whose text is not mapped (see {@link Field.mapped}). */
  readonly unmapped: ReadonlyMap<string, number>;
  /** Mapped fields that are empty in all remaining items; undefined without items. */
  readonly empty: readonly string[] | undefined;
}

/** Maps the items of one page to exactly the documented fields, all strings. */
export interface Mapped extends Omit<MappingCounts, 'overlooked' | 'repeatedIds'> {
  readonly items: readonly Readonly<Record<string, string>>[];
}

interface Tally {
  readonly field: Field;
  filled: number;
  unmapped: number;
}

/**
 * Compiles a mapper. With `fail`, it throws `upstream_invalid` for the first invalid item, naming field and index, never a
 * value.
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
  const mapItem = (page: Page, index: number, tallies: readonly Tally[], defaults: string[]) => {
    const item: Record<string, string> = {};
    for (const tally of tallies) {
      const { field } = tally;
      const text = field.read(page, index);
      if (text === undefined) defaults.push(field.name);
      else if (text !== '') {
        tally.filled += 1;
        if (field.mapped?.has(text) === false) tally.unmapped += 1;
      }
      item[field.name] = text ?? field.default;
    }
    return item;
  };

  return (page, from = 0, to = page.items.length) => {
    const items: Record<string, string>[] = [];
    const defaulted = new Map<string, number>();
    const tallies = mapFields.map((field) => ({ field, filled: 0, unmapped: 0 }));
    // Usually empty after the first item.
    let empty = own;
    let excluded = 0;
    let dropped = 0;
    let dropReason: string | undefined;
    for (let index = from; index < to; index += 1) {
      // Counted after the item has proved valid.
      const defaults: string[] = [];
      try {
        if (!isKept(page, index)) {
          excluded += 1;
          continue;
        }
        const item = mapItem(page, index, tallies, defaults);
        items.push(item);
        if (empty.length > 0) empty = empty.filter((name) => item[name] === '');
        for (const name of defaults) defaulted.set(name, (defaulted.get(name) ?? 0) + 1);
      } catch (error) {
        if (invalidItems === 'fail' || !(error instanceof GatewayError)) throw error;
        dropped += 1;
        dropReason ??= error.reason;
      }
    }
    const received = to - from;
    return {
      ...{ items, received, excluded, dropped, dropReason, defaulted, empty: items.length === 0 ? undefined : empty },
      filled: new Map(tallies.map((tally) => [tally.field.name, tally.filled])),
      unmapped: new Map(tallies.map((tally) => [tally.field.name, tally.unmapped])),
    };
  };
}

export const NO_COUNTS: MappingCounts = {
  received: 0,
  excluded: 0,
  dropped: 0,
  repeatedIds: 0,
  defaulted: new Map(),
  filled: new Map(),
  unmapped: new Map(),
  empty: undefined,
};

export function addCounts(a: MappingCounts, b: MappingCounts): MappingCounts {
  return {
    received: a.received + b.received,
    excluded: a.excluded + b.excluded,
    dropped: a.dropped + b.dropped,
    dropReason: a.dropReason ?? b.dropReason,
    repeatedIds: a.repeatedIds + b.repeatedIds,
    overlooked: a.overlooked ?? b.overlooked,
    defaulted: addTimes(a.defaulted, b.defaulted),
    filled: addTimes(a.filled, b.filled),
    unmapped: addTimes(a.unmapped, b.unmapped),
    empty: a.empty === undefined || b.empty === undefined ? (a.empty ?? b.empty) : inBoth(a.empty, b.empty),
  };
}

function addTimes(a: ReadonlyMap<string, number>, b: ReadonlyMap<string, number>): ReadonlyMap<string, number> {
  if (a.size === 0) return b;
  const sum = new Map(a);
  for (const [field, times] of b) sum.set(field, (sum.get(field) ?? 0) + times);
  return sum;
}

function inBoth(a: readonly string[], b: readonly string[]): readonly string[] {
  return a.length === 0 ? a : a.filter((field) => b.includes(field));
}

/** Returns undefined if items are left, or the upstream sent none. */
export function nothingLeft(
  counts: MappingCounts,
): { readonly why: string; readonly keys: readonly ('items' | 'where' | 'fields')[] } | undefined {
  const { received, excluded, dropped, dropReason, overlooked } = counts;
  if (received === 0) return overlooked === undefined ? undefined : { why: overlooked, keys: ['items'] };
  if (excluded + dropped < received) return undefined;
  if (dropped === 0) return { why: `where excludes all ${received} items`, keys: ['where'] };
  const invalid = dropReason === undefined ? 'are invalid' : `are invalid, the first because ${dropReason}`;
  return excluded === 0
    ? { why: `all ${received} items ${invalid}`, keys: ['fields'] }
    : {
        why: `where excludes ${excluded} of ${received} items, and the others ${invalid}`,
        keys: ['where', 'fields'],
      };
}

/** Returns the warnings that a list shows by itself. */
export function findingsOf(counts: MappingCounts): MappingFinding[] {
  if (nothingLeft(counts) !== undefined) return [{ finding: 'nothing_left' }];
  const { repeatedIds, empty = [] } = counts;
  return [
    ...(repeatedIds > 0 ? [{ finding: 'duplicate_ids' as const }] : []),
    ...empty.map((field) => ({ finding: 'field_empty' as const, field })),
  ];
}

const DESCRIPTIONS: Readonly<Record<MappingFinding['finding'], string>> = {
  nothing_left: 'nothing is left of a reply that was not empty',
  duplicate_ids: 'an id occurs more than once',
  field_empty: 'is empty in every item',
  field_lost: 'is empty in every item and was not before',
  value_unmapped: 'has values that are not in the table values, and had none before',
  hidden_text: 'has hidden characters',
};

/** Names documented fields only, nothing from an upstream. */
export function describeFinding({ finding, field }: MappingFinding): string {
  return field === undefined ? DESCRIPTIONS[finding] : `${field} ${DESCRIPTIONS[finding]}`;
}
