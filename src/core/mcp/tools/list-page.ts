import { explained, type GatewayError } from '../../kernel/errors.ts';
import { nextTurn } from '../../kernel/turns.ts';
import type { Snapshot } from '../../reads/snapshots/snapshot.ts';

/** A part of a list, or of its filtered items. */
export interface ListPage {
  /** Indexes of the filtered items; `undefined` without a filter. */
  readonly found?: readonly number[] | undefined;
  /** Hint for a filter without results. */
  readonly hint?: string | undefined;
  /** Index of the page's first item among these. */
  readonly offset: number;
  /** Maximum number of items. */
  readonly limit: number;
  /** Returns the cursor for the items from an offset on. */
  readonly cursorOf: (offset: number) => string;
  /** Maximum size of this page as JSON. */
  readonly maxBytes: number;
}

/** Size of a page without its items. */
const PAGE_BYTES = 512;

/** Items are parsed in steps of about this size, each in a turn of its own. */
const STEP_BYTES = 262_144;

/**
 * Returns the page as JSON: `items`, `total` and, unless it is the last, `nextCursor`, cut from the snapshot's bytes.
 * Throws `result_too_large`, with a fitting limit, above `maxBytes`.
 */
export function writePage(snapshot: Snapshot, page: ListPage): string {
  const { found, offset, maxBytes } = page;
  const { total, next } = extentOf(snapshot, page);
  const items: string[] = [];
  let size = PAGE_BYTES;
  for (let at = offset; at < next; at += 1) {
    const index = found?.[at] ?? at;
    size += lengthOf(snapshot, index);
    if (size > maxBytes) throw tooLarge(items.length, maxBytes);
    items.push(itemAt(snapshot, index));
  }
  return finish(page, { items, total, next, size });
}

/** The same with selected fields of each item, parsed in steps. Rejects with the signal's reason when it aborts. */
export async function writeFields(
  snapshot: Snapshot,
  page: ListPage,
  fields: readonly string[],
  signal: AbortSignal,
): Promise<string> {
  const { found, offset, maxBytes } = page;
  const { total, next } = extentOf(snapshot, page);
  const items: string[] = [];
  let size = PAGE_BYTES;
  let left = 0;
  for (let at = offset; at < next; at += 1) {
    if (left <= 0) {
      await nextTurn();
      signal.throwIfAborted();
      left = STEP_BYTES;
    }
    const index = found?.[at] ?? at;
    left -= lengthOf(snapshot, index);
    const item = JSON.stringify(JSON.parse(itemAt(snapshot, index)), [...fields]);
    size += Buffer.byteLength(item) + 1;
    if (size > maxBytes) throw tooLarge(items.length, maxBytes);
    items.push(item);
  }
  return finish(page, { items, total, next, size });
}

/** Returns the number of items, and the end of the page. */
function extentOf({ count }: Snapshot, { found, offset, limit }: ListPage) {
  const total = found === undefined ? count : found.length;
  return { total, next: Math.min(offset + limit, total) };
}

/** Size of an item with the following comma or bracket. */
function lengthOf({ bytes, itemStarts }: Snapshot, index: number): number {
  const end = itemStarts[index + 1] ?? bytes.length;
  return end - (itemStarts[index] ?? end);
}

function itemAt({ bytes, itemStarts }: Snapshot, index: number): string {
  return bytes.toString('utf8', itemStarts[index], (itemStarts[index + 1] ?? bytes.length) - 1);
}

interface Written {
  readonly items: readonly string[];
  readonly total: number;
  readonly next: number;
  readonly size: number;
}

function finish({ hint, limit, cursorOf, maxBytes }: ListPage, { items, total, next, size }: Written): string {
  const more = limit > 0 && next < total ? `,"nextCursor":${JSON.stringify(cursorOf(next))}` : '';
  const hintMember = hint !== undefined && total === 0 ? `,"hint":${JSON.stringify(hint)}` : '';
  const fits = size + Buffer.byteLength(hintMember) <= maxBytes;
  return `{"items":[${items.join(',')}],"total":${total}${more}${fits ? hintMember : ''}}`;
}

function tooLarge(fitting: number, maxBytes: number): GatewayError {
  const detail =
    fitting === 0
      ? `Not even one of these items fits the ${maxBytes} bytes that a result may have here. Read the resource instead, or name the fields that you need.`
      : `These items take more than the ${maxBytes} bytes that a result may have here. Set limit to ${fitting} or less and go on with nextCursor, narrow the list with query or a filter, or name the fields that you need.`;
  return explained('result_too_large', detail, { bound: 'mcp.maxResultBytes' });
}
