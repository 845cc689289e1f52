import { hash } from 'node:crypto';
import { errorWithDetail, GatewayError } from '../../kernel/errors.ts';

type CursorPosition = { readonly etag: string; readonly filter: object };

/** The offset, and digests of the entity tag and of the filter. Not signed: a forged one selects another page of the same list. */
const SHAPE = /^(?<offset>[0-9a-z]{1,6})\.(?<list>[\w-]{4})(?<arguments>[\w-]{4})$/;
const RADIX = 36;

/** Returns a cursor, of at most 16 characters, for the items from `offset` on, valid for this list and filter only. */
export function writeCursor({ etag, filter }: CursorPosition, offset: number): string {
  return `${offset.toString(RADIX)}.${digest(etag)}${filterDigest(filter)}`;
}

/** Returns the offset. Throws `list_changed` if the list has changed, and `invalid_params` if it belongs to another filter. */
export function readCursor({ etag, filter }: CursorPosition, cursor: string): number {
  const parts = SHAPE.exec(cursor)?.groups;
  if (parts?.['arguments'] !== filterDigest(filter))
    throw errorWithDetail(
      'invalid_params',
      'cursor: Was not issued for these arguments. Repeat those of before, or omit it.',
    );
  if (parts['list'] !== digest(etag)) throw new GatewayError('list_changed');
  return Number.parseInt(parts['offset'] ?? '', RADIX);
}

/** Filters are case-insensitive. */
function filterDigest(filter: object): string {
  return digest(JSON.stringify(filter).toLowerCase());
}

function digest(text: string): string {
  return hash('sha256', text, 'base64url').slice(0, 4);
}
