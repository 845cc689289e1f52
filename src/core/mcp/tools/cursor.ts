import { hash } from 'node:crypto';
import { GatewayError } from '../../kernel/errors.ts';

/** Where a next page begins, and in what. */
export interface Place {
  /** Entity tag of the list. */
  readonly etag: string;
  /** What the list was narrowed by. */
  readonly filter: object;
}

/** A cursor for the items from `offset` on. It fits this list with this filter, and no other. */
export function writeCursor({ etag, filter }: Place, offset: number): string {
  return Buffer.from(JSON.stringify([offset, etag, digest(filter)])).toString('base64url');
}

/**
 * The offset that a cursor stands for; 0 without one. Throws `list_changed` where the list is not the one that it was
 * given out for, and `invalid_params` where it is none, or was given out for another filter.
 */
export function readCursor({ etag, filter }: Place, cursor: string | undefined): number {
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

/** A filter means the same in any case. */
function digest(filter: object): string {
  return hash('sha256', JSON.stringify(filter).toLowerCase(), 'base64url').slice(0, 11);
}

function invalid(detail: string): GatewayError {
  return new GatewayError('invalid_params', { detail });
}
