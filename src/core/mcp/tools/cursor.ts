import { hash } from 'node:crypto';
import { GatewayError } from '../../kernel/errors.ts';

/** Position and list of a next page. */
export interface CursorPosition {
  /** Entity tag of the list. */
  readonly etag: string;
  /** Filter of the list. */
  readonly filter: object;
}

/** Returns a cursor for the items from `offset` on, valid for this list and filter only. */
export function writeCursor({ etag, filter }: CursorPosition, offset: number): string {
  return Buffer.from(JSON.stringify([offset, etag, digest(filter)])).toString('base64url');
}

/**
 * Returns the offset of a cursor; 0 without one. Throws `list_changed` if the list has changed, and `invalid_params` if
 * it is invalid or belongs to another filter.
 */
export function readCursor({ etag, filter }: CursorPosition, cursor: string | undefined): number {
  if (cursor === undefined) return 0;
  const [offset, list, narrowed] = parse(cursor);
  if (!Number.isSafeInteger(offset) || Number(offset) < 0)
    throw invalid('cursor: was not issued here. Omit it to start.');
  if (narrowed !== digest(filter)) throw invalid('cursor: belongs to other arguments. Repeat those, or start again.');
  if (list !== etag) throw new GatewayError('list_changed');
  return Number(offset);
}

function parse(cursor: string): readonly unknown[] {
  try {
    const parts: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString());
    return Array.isArray(parts) ? parts : [];
  } catch {
    return [];
  }
}

/** Filters are case-insensitive. */
function digest(filter: object): string {
  return hash('sha256', JSON.stringify(filter).toLowerCase(), 'base64url').slice(0, 11);
}

function invalid(detail: string): GatewayError {
  return new GatewayError('invalid_params', { detail });
}
