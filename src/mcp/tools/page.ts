import { GatewayError } from '../../kernel/errors.ts';
import type { Item } from '../../resources/resource.ts';
import type { ToolArguments } from './arguments.ts';
import { readCursor, writeCursor } from './cursor.ts';
import { select } from './select.ts';

/** What a tool returns. */
export interface ToolPage {
  readonly items: readonly Item[];
  /** Items that fit the filter, on all pages. */
  readonly total: number;
  /** Absent on the last page. */
  readonly nextCursor?: string;
}

/** What `items` of a page costs beside the items. */
const ENVELOPE_BYTES = 512;

/**
 * The page of a list that is asked for. Throws what {@link readCursor} throws, and `result_too_large`, with how to ask
 * for less, where the page would be larger than `maxBytes` as JSON.
 */
export function pageOf(
  items: readonly Item[],
  etag: string,
  { filter, limit, cursor }: ToolArguments,
  maxBytes: number,
): ToolPage {
  const offset = readCursor({ etag, filter }, cursor);
  const found = select(items, filter);
  const page = found.slice(offset, offset + limit);
  checkSize(page, maxBytes);
  const next = offset + page.length;
  const more = next < found.length && page.length > 0;
  return { items: page, total: found.length, ...(more && { nextCursor: writeCursor({ etag, filter }, next) }) };
}

function checkSize(page: readonly Item[], maxBytes: number): void {
  let bytes = ENVELOPE_BYTES;
  for (const [index, item] of page.entries()) {
    bytes += Buffer.byteLength(JSON.stringify(item)) + 1;
    if (bytes > maxBytes) throw tooLarge(index, maxBytes);
  }
}

function tooLarge(fitting: number, maxBytes: number): GatewayError {
  const detail =
    fitting === 0
      ? `Not even one of these items fits the ${maxBytes} bytes that a result may have here. Read the resource instead.`
      : `These items take more than the ${maxBytes} bytes that a result may have here. Set limit to ${fitting} or less and go on with nextCursor, or narrow the list with query or a filter.`;
  return new GatewayError('result_too_large', { detail });
}
