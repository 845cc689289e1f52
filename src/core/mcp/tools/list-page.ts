import { GatewayError } from '../../kernel/errors.ts';
import { nextTurn } from '../../kernel/turns.ts';
import type { Snapshot } from '../../reads/snapshots/snapshot.ts';

/** Part of a list, or of what a filter leaves of it. */
export interface ListPage {
  /** Where the items stand that the filter leaves; `undefined` without a filter. */
  readonly found?: readonly number[] | undefined;
  /** What may help where the filter leaves nothing. */
  readonly hint?: string | undefined;
  /** Of the first item of this page among these. */
  readonly offset: number;
  /** The most items. */
  readonly limit: number;
  /** The cursor for the items from an offset on. */
  readonly cursorOf: (offset: number) => string;
  /** The most that this page may take as JSON. */
  readonly maxBytes: number;
}

/** What a page costs beside the items. */
const PAGE_BYTES = 512;

/** Items are parsed in steps of about this size: other requests have their turn between them. */
const STEP_BYTES = 262_144;

/**
 * The page as JSON: `items`, `total` and, unless it is the last one, `nextCursor`. Cut out of the snapshot's own bytes.
 * Throws `result_too_large`, with how to ask for less, where it would be larger than `maxBytes`.
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

/**
 * The same with these fields of each item, which is parsed for that, step by step in turns of their own. Rejects with the
 * signal's reason once that aborts.
 */
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

/** How many items there are, and where the page ends among them. */
function extentOf({ count }: Snapshot, { found, offset, limit }: ListPage) {
  const total = found === undefined ? count : found.length;
  return { total, next: Math.min(offset + limit, total) };
}

/** Bytes of an item, and of the comma or the bracket that follows it. */
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

function finish({ hint, cursorOf, maxBytes }: ListPage, { items, total, next, size }: Written): string {
  const more = next < total ? `,"nextCursor":${JSON.stringify(cursorOf(next))}` : '';
  const told = hint !== undefined && total === 0 ? `,"hint":${JSON.stringify(hint)}` : '';
  const fits = size + Buffer.byteLength(told) <= maxBytes;
  return `{"items":[${items.join(',')}],"total":${total}${more}${fits ? told : ''}}`;
}

function tooLarge(fitting: number, maxBytes: number): GatewayError {
  const detail =
    fitting === 0
      ? `Not even one of these items fits the ${maxBytes} bytes that a result may have here. Read the resource instead, or name the fields that you need.`
      : `These items take more than the ${maxBytes} bytes that a result may have here. Set limit to ${fitting} or less and go on with nextCursor, narrow the list with query or a filter, or name the fields that you need.`;
  return new GatewayError('result_too_large', { detail, bound: 'mcp.maxResultBytes' });
}
