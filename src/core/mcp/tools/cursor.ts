import { hash } from 'node:crypto';
import { explained, GatewayError } from '../../kernel/errors.ts';

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
