import type { ListRequest } from '../../upstream/pagination/list-read.ts';
import type { Pagination } from '../../upstream/pagination/page-address.ts';
import { headerStatements } from '../../upstream/signs/statements.ts';
import type { ReplyHeaders } from '../../upstream/upstream.ts';
import type { Load } from '../snapshots/load.ts';

const ENTITY_TAG = /^(?:W\/)?"[\x21\x23-\x7e]{0,256}"$/;

/**
 * Returns whether a page's body shows that no other follows. A total or a link in a header can change under an
 * unchanged tag.
 */
export function bodyShowsEnd(pagination: Pagination): boolean {
  const { kind, total, totalHeader } = pagination;
  if (total === undefined && totalHeader !== undefined) return false;
  return kind === 'none' || kind === 'token' || (kind === 'link' && pagination.next !== undefined);
}

/**
 * Returns the entity tag of a page (RFC 9110, section 8.8.3) if it can be sent back unchanged. Not for POST, where
 * `If-None-Match` has another meaning (section 13.1.2).
 */
export function tagged({ post }: ListRequest, headers: ReplyHeaders): Pick<Load, 'upstreamEtag' | 'upstreamSaid'> {
  const { etag } = headers;
  if (post !== undefined || typeof etag !== 'string' || !ENTITY_TAG.test(etag)) return {};
  return { upstreamEtag: etag, upstreamSaid: saidOf(headers) };
}

export const NOTHING_SAID = saidOf({});

/** Returns the headers' signs of more items as text for comparison. */
export function saidOf(headers: ReplyHeaders): string {
  const said = headerStatements(headers);
  return said.length === 0 ? '' : JSON.stringify(said);
}
