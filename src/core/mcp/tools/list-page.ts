import { hash } from 'node:crypto';
import { explained, GatewayError } from '../../kernel/errors.ts';
import { nextTurn } from '../../kernel/turns.ts';
import type { Snapshot } from '../../reads/snapshots/snapshot.ts';

export const MAX_PAGE_ITEMS = 50;

/** Text of such a page, because many hosts cut longer results. */
export const MAX_PAGE_BYTES = 7000;

/** Least charge for a page without its items, so that a short remark does not move the next page. */
const FRAME_BYTES = 512;

/** The same without {@link ListPage.members}. */
const BARE_BYTES = 100;

/** Items are parsed in steps of about this size, each in a turn of its own. */
const STEP_BYTES = 262_144;

export type ListBytes = Pick<Snapshot, 'bytes' | 'count' | 'itemStarts'>;

/** A part of a list, or of its filtered items. */
export interface ListPage {
  /** Indexes of the filtered items; `undefined` without a filter. */
  readonly found?: readonly number[] | undefined;
  /** Index of the page's first item among these. */
  readonly offset: number;
  /** `undefined`: {@link MAX_PAGE_ITEMS}, without those that make the text long. */
  readonly limit: number | undefined;
  readonly cursorOf: (offset: number) => string;
  /** Of this page as text. */
  readonly maxBytes: number;
  /** The same for a page without a given limit. It has one item at least. */
  readonly pageBytes: number;
  /** Further members of the page as JSON, each preceded by a comma. */
  readonly members: string;
  /** For a page of no items. */
  readonly hint?: string | undefined;
}

/**
 * A page as JSON. The text is that of the data, because some hosts pass on both where they differ; in a page that hosts may cut, each
 * item is a line of its own (docs/decisions/0065).
 */
export interface WrittenPage {
  readonly data: string;
  readonly text: string;
}

/** Cuts a page from the bytes of the list. Throws `result_too_large`, with a fitting limit, above `maxBytes`. */
export function writePage(list: ListBytes, page: ListPage): WrittenPage {
  const { found, offset } = page;
  const total = totalOf(list, page);
  const items: string[] = [];
  let size = frameOf(page);
  for (let at = offset; at < lastOf(page, total); at += 1) {
    const index = found?.[at] ?? at;
    size += lengthOf(list, index) + 1;
    if (!hasRoom(page, items.length, size)) break;
    items.push(itemAt(list, index));
  }
  return finish(page, items, total);
}

/** The same with selected fields of each item, parsed in steps. Rejects with the signal's reason when it aborts. */
export async function writeFields(
  list: ListBytes,
  page: ListPage,
  fields: readonly string[],
  signal: AbortSignal,
): Promise<WrittenPage> {
  const { found, offset } = page;
  const total = totalOf(list, page);
  const items: string[] = [];
  let size = frameOf(page);
  let left = 0;
  for (let at = offset; at < lastOf(page, total); at += 1) {
    if (left <= 0) {
      await nextTurn();
      signal.throwIfAborted();
      left = STEP_BYTES;
    }
    const index = found?.[at] ?? at;
    left -= lengthOf(list, index);
    const item = JSON.stringify(JSON.parse(itemAt(list, index)), [...fields]);
    size += Buffer.byteLength(item) + 2;
    if (!hasRoom(page, items.length, size)) break;
    items.push(item);
  }
  return finish(page, items, total);
}

function totalOf({ count }: ListBytes, { found }: ListPage): number {
  return found === undefined ? count : found.length;
}

/** The end of the page as far as it depends on the number of items. */
function lastOf({ offset, limit = MAX_PAGE_ITEMS }: ListPage, total: number): number {
  return Math.min(offset + limit, total);
}

function frameOf({ members }: ListPage): number {
  return Math.max(FRAME_BYTES, BARE_BYTES + Buffer.byteLength(members));
}

/** Whether an item that makes the page so large is on it, after `items` others. */
function hasRoom({ limit, maxBytes, pageBytes }: ListPage, items: number, size: number): boolean {
  if (limit === undefined && items > 0 && size > pageBytes) return false;
  if (size > maxBytes) throw tooLarge(items, maxBytes);
  return true;
}

/** Size of an item with the following comma or bracket. */
function lengthOf({ bytes, itemStarts }: ListBytes, index: number): number {
  const end = itemStarts[index + 1] ?? bytes.length;
  return end - (itemStarts[index] ?? end);
}

function itemAt({ bytes, itemStarts }: ListBytes, index: number): string {
  return bytes.toString('utf8', itemStarts[index], (itemStarts[index + 1] ?? bytes.length) - 1);
}

/** Hosts cut long texts: what is about the whole list comes first. */
function finish(page: ListPage, items: readonly string[], total: number): WrittenPage {
  const { offset, limit, cursorOf, members, maxBytes } = page;
  const next = offset + items.length;
  const more = limit !== 0 && next < total ? `,"nextCursor":${JSON.stringify(cursorOf(next))}` : '';
  const hint = total === 0 && page.hint !== undefined ? `,"hint":${JSON.stringify(page.hint)}` : '';
  const fits = frameOf(page) + Buffer.byteLength(hint) <= maxBytes;
  const start = `{"total":${total}${more}${members}${fits ? hint : ''},"items":[`;
  const data = `${start}${items.join(',')}]}`;
  const isCut = Buffer.byteLength(data) > MAX_PAGE_BYTES;
  return { data, text: isCut ? `${start}\n${items.join(',\n')}\n]}` : data };
}

function tooLarge(fitting: number, maxBytes: number): GatewayError {
  const detail =
    fitting === 0
      ? `Not even one of these items fits into the ${maxBytes} bytes of a result. Read the resource instead, or name the fields that you need.`
      : `These items need more than the ${maxBytes} bytes of a result. Set limit to ${fitting} or less, or omit it, and continue with nextCursor, narrow the list with query or a filter, or name the fields that you need.`;
  return explained('result_too_large', detail, { bound: 'mcp.maxResultBytes' });
}

type CursorPosition = { readonly etag: string; readonly filter: object };

/** Bytes of a cursor, 16 characters as base64url: the offset, then digests of the entity tag, the filter, and all before. */
const ETAG = 4;
const FILTER = 7;
const CHECK = 10;
const LENGTH = 12;

const SHAPE = /^[\w-]{16}$/;

/** Returns a cursor for the items from `offset` on, valid for this list and filter only. */
export function writeCursor({ etag, filter }: CursorPosition, offset: number): string {
  const bytes = Buffer.alloc(LENGTH);
  bytes.writeUInt32BE(offset);
  bytes.set(digest(etag, FILTER - ETAG), ETAG);
  bytes.set(filterDigest(filter), FILTER);
  bytes.set(checkOf(bytes), CHECK);
  return bytes.toString('base64url');
}

/** Returns the offset. Throws `list_changed` if the list has changed, and `invalid_params` if it belongs to another filter. */
export function readCursor({ etag, filter }: CursorPosition, cursor: string): number {
  const bytes = Buffer.from(SHAPE.test(cursor) ? cursor : '', 'base64url');
  if (bytes.length !== LENGTH || !bytes.subarray(CHECK).equals(checkOf(bytes)))
    throw explained('invalid_params', 'cursor: was not issued by this server. Omit it to start.');
  if (!bytes.subarray(FILTER, CHECK).equals(filterDigest(filter)))
    throw explained('invalid_params', 'cursor: belongs to other arguments. Repeat those, or start again.');
  if (!bytes.subarray(ETAG, FILTER).equals(digest(etag, FILTER - ETAG))) throw new GatewayError('list_changed');
  return bytes.readUInt32BE();
}

/** Distinguishes cursors from made-up texts. Not a signature: a forged cursor selects another page of the same list. */
function checkOf(bytes: Buffer): Buffer {
  return digest(bytes.subarray(0, CHECK), LENGTH - CHECK);
}

/** Filters are case-insensitive. */
function filterDigest(filter: object): Buffer {
  return digest(JSON.stringify(filter).toLowerCase(), CHECK - FILTER);
}

function digest(text: string | Buffer, bytes: number): Buffer {
  return hash('sha256', text, 'buffer').subarray(0, bytes);
}
