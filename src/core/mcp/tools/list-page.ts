import { errorWithDetail, type GatewayError } from '../../kernel/errors.ts';
import { createTurnBytes } from '../../kernel/event-loop.ts';
import { mayHideText } from '../../kernel/hidden-text.ts';
import type { Snapshot } from '../../reads/snapshots/snapshot.ts';
import type { Item } from '../../resources/resource.ts';

export const MAX_PAGE_ITEMS = 50;

/** Text of such a page, because many hosts cut longer results. */
const MAX_PAGE_BYTES = 7000;

/** Charge for a page without its items and {@link ListPage.members}. */
const FRAME_BYTES = 100;

/** Bytes of items that all pages read in one turn of the event loop. */
const TURN_BYTES = 131_072;

export type ListBytes = Pick<Snapshot, 'bytes' | 'count' | 'itemStarts'>;

/** A part of a list, or of its filtered items. */
export interface ListPage {
  /** Indexes of the filtered items; `undefined` without a filter. */
  readonly found?: ArrayLike<number> | undefined;
  /** Index of the page's first item among these. */
  readonly offset: number;
  /** `undefined`: {@link MAX_PAGE_ITEMS}, without those that make the text long. */
  readonly limit: number | undefined;
  /** Fields of each item. @default all, as they are in the list */
  readonly fields?: readonly string[] | undefined;
  /** Whether `fields` are written once, as columns, and items as rows. @default false */
  readonly isTable?: boolean | undefined;
  /** Writes the hidden characters of a field's text. @default they stay as they are */
  readonly show?: ((field: string, text: string) => string) | undefined;
  readonly cursorOf: (offset: number) => string;
  /** Further members of the page as JSON, each preceded by a comma. */
  readonly members: string;
}

/**
 * A page as JSON. The text is that of the data, because some hosts pass on both where they differ; in a page that hosts may cut, each
 * item is a line of its own (docs/decisions/0064).
 */
interface WrittenPage {
  readonly data: string;
  readonly text: string;
}

/** `maxBytes`: maximum size of a page as text. One without a given limit has {@link MAX_PAGE_BYTES}, or one item. */
export function createPageWriter(maxBytes: number) {
  const turn = createTurnBytes(TURN_BYTES);
  const pageBytes = Math.min(MAX_PAGE_BYTES, maxBytes);

  /** Whether an item that makes the page so large is on it, after `items` others. */
  function hasRoom(limit: number | undefined, items: number, size: number): boolean {
    if (limit === undefined && items > 0 && size > pageBytes) return false;
    if (size > maxBytes) throw tooLarge(items, maxBytes);
    return true;
  }

  /** Cuts a page from the bytes of the list. Throws `result_too_large`, with a fitting limit, above `maxBytes`. */
  return async (list: ListBytes, page: ListPage, signal: AbortSignal): Promise<WrittenPage> => {
    const { found, offset, limit, fields, show, members } = page;
    const total = found?.length ?? list.count;
    const end = Math.min(offset + (limit ?? MAX_PAGE_ITEMS), total);
    const items: string[] = [];
    let size = FRAME_BYTES + Buffer.byteLength(members);
    hasRoom(limit, 0, size);
    for (let at = offset; at < end; at += 1) {
      const bytes = bytesOf(list, found?.[at] ?? at);
      const later = turn.take(bytes.length);
      if (later !== undefined) {
        await later;
        signal.throwIfAborted();
      }
      const json = bytes.toString();
      let item = fields === undefined ? json : select(JSON.parse(json), page);
      // Before hidden characters are looked for: it may be as long as a page of the platform.
      if (!hasRoom(limit, items.length, size + Buffer.byteLength(item) + 2)) break;
      if (show !== undefined && mayHideText(item)) item = select(JSON.parse(json), page, show);
      size += Buffer.byteLength(item) + 2;
      if (!hasRoom(limit, items.length, size)) break;
      items.push(item);
    }
    return finish(page, items, total);
  };
}

function select(item: Item, { fields, isTable }: ListPage, show: ListPage['show'] = (_field, text) => text): string {
  const names = fields ?? Object.keys(item);
  const texts = names.map((name) => show(name, item[name] ?? ''));
  return JSON.stringify(isTable ? texts : Object.fromEntries(names.map((name, at) => [name, texts[at]])));
}

/** The JSON of an item, without the following comma or bracket. */
function bytesOf({ bytes, itemStarts }: ListBytes, index: number): Buffer {
  return bytes.subarray(itemStarts[index], (itemStarts[index + 1] ?? bytes.length) - 1);
}

/** Hosts cut long texts: what is about the whole list comes first. */
function finish(
  { offset, limit, cursorOf, members, fields, isTable }: ListPage,
  items: readonly string[],
  total: number,
) {
  const next = offset + items.length;
  const more = limit !== 0 && next < total ? `,"nextCursor":${JSON.stringify(cursorOf(next))}` : '';
  const name = isTable ? `"columns":${JSON.stringify(fields)},"rows"` : '"items"';
  const start = `{"total":${total}${more}${members},${name}:[`;
  const data = `${start}${items.join(',')}]}`;
  const isCut = Buffer.byteLength(data) > MAX_PAGE_BYTES;
  return { data, text: isCut ? `${start}\n${items.join(',\n')}\n]}` : data };
}

function tooLarge(fitting: number, maxBytes: number): GatewayError {
  const detail =
    fitting === 0
      ? `Not even one of these items fits into the ${maxBytes} bytes of a result. Read the resource instead, or name the fields that you need, and fewer to count.`
      : `These items need more than the ${maxBytes} bytes of a result. Set limit to ${fitting} or less, or omit it, and continue with nextCursor, narrow the list with query or a filter, or name the fields that you need.`;
  return errorWithDetail('result_too_large', detail, { bound: 'mcp.maxResultBytes' });
}
