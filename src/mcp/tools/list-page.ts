import { GatewayError } from '../../kernel/errors.ts';
import type { Snapshot } from '../../snapshots/snapshot.ts';

/** Part of a list, or of what a filter leaves of it. */
export interface ListPage {
  /** Where the items stand that the filter leaves; `undefined` without a filter. */
  readonly found?: readonly number[] | undefined;
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

/**
 * The page as JSON: `items`, `total` and, unless it is the last one, `nextCursor`. Cut out of the snapshot's own bytes.
 * Throws `result_too_large`, with how to ask for less, where it would be larger than `maxBytes`.
 */
export function writePage({ bytes, itemStarts, count }: Snapshot, page: ListPage): string {
  const { found, offset, limit, cursorOf, maxBytes } = page;
  const total = found === undefined ? count : found.length;
  const next = Math.min(offset + limit, total);
  const items: string[] = [];
  let size = PAGE_BYTES;
  for (let at = offset; at < next; at += 1) {
    const index = found?.[at] ?? at;
    const begin = itemStarts[index];
    const end = itemStarts[index + 1] ?? bytes.length;
    size += end - (begin ?? end);
    if (size > maxBytes) throw tooLarge(items.length, maxBytes);
    // A comma or a bracket stands ahead of each start.
    items.push(bytes.toString('utf8', begin, end - 1));
  }
  const more = next < total ? `,"nextCursor":${JSON.stringify(cursorOf(next))}` : '';
  return `{"items":[${items.join(',')}],"total":${total}${more}}`;
}

function tooLarge(fitting: number, maxBytes: number): GatewayError {
  const detail =
    fitting === 0
      ? `Not even one of these items fits the ${maxBytes} bytes that a result may have here. Read the resource instead.`
      : `These items take more than the ${maxBytes} bytes that a result may have here. Set limit to ${fitting} or less and go on with nextCursor, or narrow the list with query or a filter.`;
  return new GatewayError('result_too_large', { detail });
}
