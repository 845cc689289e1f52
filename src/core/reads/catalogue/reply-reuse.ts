import type { MappingCounts } from '../../mapping/mapper.ts';
import { headerStatements } from '../../upstream/hints/statements.ts';
import type { ListRequest } from '../../upstream/paging/list-read.ts';
import type { Pagination } from '../../upstream/paging/page-address.ts';
import type { ReplyHeaders } from '../../upstream/upstream.ts';
import type { Load } from '../snapshots/load.ts';
import type { Snapshot } from '../snapshots/snapshot.ts';

export interface MappedReply {
  readonly snapshot: Snapshot;
  readonly counts: MappingCounts;
}

/** Small enough not to be counted: three resources keep 24 MB at most, bodies and results. */
const MAX_REPLIES = 16;
const MAX_BODY_BYTES = 262_144;

/** Results of one list's last replies. Few: to hash and keep all took a fifth of the time of a new list. */
export function createReplyMemo() {
  /** The most recently used last. */
  const held: { readonly body: Buffer; readonly statements: string; readonly made: MappedReply }[] = [];
  return {
    /** Finds the result of an equal reply: only a caller with the same body finds it. */
    get(body: Buffer, statements: string): MappedReply | undefined {
      const at = held.findLastIndex((each) => each.statements === statements && each.body.equals(body));
      const [found] = at === -1 ? [] : held.splice(at, 1);
      if (found !== undefined) held.push(found);
      return found?.made;
    },
    /** Keeps `body`, which must not change. */
    set(body: Buffer, statements: string, made: MappedReply): void {
      if (body.length <= MAX_BODY_BYTES && held.push({ body, statements, made }) > MAX_REPLIES) held.shift();
    },
  };
}

const ENTITY_TAG = /^(?:W\/)?"[\x21\x23-\x7e]{0,256}"$/;

/** Returns whether a page's body shows that no other follows. Headers can change under an unchanged tag. */
export function bodyShowsEnd(pagination: Pagination): boolean {
  const { kind, total, totalHeader } = pagination;
  if (total === undefined && totalHeader !== undefined) return false;
  if ('nextHeader' in pagination && pagination.nextHeader !== undefined) return false;
  return kind === 'none' || kind === 'token' || (kind === 'link' && pagination.next !== undefined);
}

/**
 * Returns the entity tag of a page (RFC 9110, section 8.8.3) if it can be sent back. Not for POST (section 13.1.2), nor where headers
 * state something about the list, which a 304 may leave out.
 */
export function tagged({ post }: ListRequest, headers: ReplyHeaders): Pick<Load, 'upstreamEtag'> {
  const { etag } = headers;
  const isUsable = post === undefined && typeof etag === 'string' && ENTITY_TAG.test(etag);
  return isUsable && headerSigns(headers) === '' ? { upstreamEtag: etag } : {};
}

/** The headers' signs of more items, for comparison. */
export function headerSigns(headers: ReplyHeaders): string {
  const statements = headerStatements(headers);
  return statements.length === 0 ? '' : JSON.stringify(statements);
}
