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
  /** A list that the items expression missed, with figures. */
  readonly overlooked?: string | undefined;
  readonly fields: ReadonlyMap<string, FieldCounts>;
}

/** Counts of one field over the items that are left. */
export interface FieldCounts {
  readonly defaulted: number;
  /** Items in which the upstream fills the field. */
  readonly filled: number;
  /** Number of these whose text is not mapped (see {@link Field.mapped}). */
  readonly unmapped: number;
  /** The field has an expression of its own and no default, so that some item should fill it. */
  readonly isExpected: boolean;
}

/** Maps the items of one page to exactly the documented fields, all strings. */
export interface Mapped extends Omit<MappingCounts, 'overlooked' | 'repeatedIds'> {
  readonly items: readonly Readonly<Record<string, string>>[];
  /** Ids of all items, in order; undefined for an item that cannot be mapped. */
  readonly ids: readonly (string | undefined)[];
}

interface Tally {
  readonly field: Field;
  defaulted: number;
  filled: number;
  unmapped: number;
  readonly isExpected: boolean;
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
}: MapperOptions): (page: Page, from?: number, to?: number, isTrial?: boolean) => Mapped {
  const mapFields = Object.entries(fields).map(([name, field]) => createField(name, field, required.includes(name)));
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
  const idField = mapFields.find(({ name }) => name === 'id');
  /** The id of an item that is left out. */
  const idOf = (page: Page, index: number): string | undefined => {
    try {
      return idField?.read(page, index);
    } catch {
      return undefined;
    }
  };
  const mapItem = (page: Page, index: number, tallies: readonly Tally[]) => {
    // Counted after the item has proved valid.
    const texts = tallies.map(({ field }) => field.read(page, index));
    const item: Record<string, string> = {};
    for (let at = 0; at < tallies.length; at += 1) {
      const tally = tallies[at] as Tally;
      const { field } = tally;
      const text = texts[at];
      if (text === undefined) tally.defaulted += 1;
      else if (text !== '') {
        tally.filled += 1;
        if (field.mapped?.has(text) === false) tally.unmapped += 1;
      }
      item[field.name] = text ?? field.default;
    }
    return item;
  };

  return (page, from = 0, to = page.items.length, isTrial = false) => {
    const items: Record<string, string>[] = [];
    const ids: (string | undefined)[] = [];
    const tallies = mapFields.map((field) => {
      // The default expression of a field is its name, which may be absent.
      const isExpected = fields[field.name]?.from !== field.name && field.default === '';
      return { field, defaulted: 0, filled: 0, unmapped: 0, isExpected };
    });
    let excluded = 0;
    let dropped = 0;
    let dropReason: string | undefined;
    for (let index = from; index < to; index += 1) {
      try {
        const item = isKept(page, index) ? mapItem(page, index, tallies) : undefined;
        if (item === undefined) excluded += 1;
        else items.push(item);
        ids.push(item === undefined ? idOf(page, index) : item['id']);
      } catch (error) {
        if ((invalidItems === 'fail' && !isTrial) || !(error instanceof GatewayError)) throw error;
        dropped += 1;
        dropReason ??= error.reason;
        ids.push(idOf(page, index));
      }
    }
    const counts = new Map(tallies.map(({ field, ...counted }) => [field.name, counted]));
    return { items, ids, received: to - from, excluded, dropped, dropReason, fields: counts };
  };
}

export const NO_COUNTS: MappingCounts = {
  received: 0,
  excluded: 0,
  dropped: 0,
  repeatedIds: 0,
  fields: new Map(),
};

export function addCounts(a: MappingCounts, b: MappingCounts): MappingCounts {
  return {
    received: a.received + b.received,
    excluded: a.excluded + b.excluded,
    dropped: a.dropped + b.dropped,
    dropReason: a.dropReason ?? b.dropReason,
    repeatedIds: a.repeatedIds + b.repeatedIds,
    overlooked: a.overlooked ?? b.overlooked,
    fields: new Map(
      [...a.fields, ...b.fields].map(([name]) => [name, addFields(a.fields.get(name), b.fields.get(name))]),
    ),
  };
}

function addFields(a?: FieldCounts, b?: FieldCounts): FieldCounts {
  const sum = (key: 'defaulted' | 'filled' | 'unmapped') => (a?.[key] ?? 0) + (b?.[key] ?? 0);
  const isExpected = (a ?? b)?.isExpected === true;
  return { defaulted: sum('defaulted'), filled: sum('filled'), unmapped: sum('unmapped'), isExpected };
}

export function itemsLeft({ received, excluded, dropped }: MappingCounts): number {
  return received - excluded - dropped;
}

/** Returns undefined if items are left, or the upstream sent none. */
export function emptiedBySettings(
  counts: MappingCounts,
): { readonly why: string; readonly keys: readonly ('items' | 'where' | 'fields')[] } | undefined {
  const { received, excluded, dropped, dropReason, overlooked } = counts;
  if (received === 0) return overlooked === undefined ? undefined : { why: overlooked, keys: ['items'] };
  if (itemsLeft(counts) > 0) return undefined;
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
  if (emptiedBySettings(counts) !== undefined) return [{ finding: 'nothing_left' }];
  const empty = [...counts.fields].filter(([, { filled, isExpected }]) => isExpected && filled === 0);
  return [
    ...(counts.repeatedIds > 0 ? [{ finding: 'duplicate_ids' as const }] : []),
    ...(itemsLeft(counts) > 0 ? empty.map(([field]) => ({ finding: 'field_empty' as const, field })) : []),
  ];
}

const DESCRIPTIONS: Readonly<Record<MappingFinding['finding'], string>> = {
  nothing_left: 'every item was filtered out',
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
