import { hash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { MappingCounts } from '../../mapping/mapper.ts';
import type { ListRequest } from '../../upstream/pagination/list-read.ts';
import type { Pagination } from '../../upstream/pagination/page-address.ts';
import { headerStatements } from '../../upstream/signs/statements.ts';
import type { ReplyHeaders } from '../../upstream/upstream.ts';
import type { Load } from '../snapshots/load.ts';
import type { Snapshot } from '../snapshots/snapshot.ts';

/** Result of mapping a list. */
export interface Made {
  readonly snapshot: Snapshot;
  readonly counts: MappingCounts;
}

/** Results of one resource's replies, by body content. */
export interface Memo {
  /**
   * Returns the key of a body: its hash with the resource's name. Only a caller with the same body finds the result.
   * The body may be kept, and must not change.
   */
  keyOf(body: Buffer): string;
  get(key: string): Made | undefined;
  set(key: string, made: Made): void;
}

/** Largest body that is kept itself, one per resource; small enough not to be counted. */
const LATEST_MAX_BYTES = 262_144;

/** Charge for keys, objects and the table, per entry; above the actual size. */
const ENTRY_BYTES = 1024;

/**
 * Returns a memo per resource, together up to `maxBytes`; none for 0. Mapping is pure: equal settings and bodies give
 * equal bytes.
 */
export function createMemos(maxBytes: number): (resource: string) => Memo | undefined {
  if (maxBytes === 0) return () => undefined;
  const held = new LRUCache<string, Made>({
    maxSize: maxBytes,
    sizeCalculation: ({ snapshot }) => ENTRY_BYTES + snapshot.bytes.length + snapshot.itemStarts.byteLength,
  });
  return (resource) => {
    let latest: { readonly body: Buffer; readonly key: string } | undefined;
    return {
      keyOf(body) {
        // Upstreams usually send what they sent last, and comparing costs a tenth of hashing.
        if (latest?.body.equals(body)) return latest.key;
        const key = `${hash('sha256', body, 'base64url')} ${resource}`;
        latest = body.length > LATEST_MAX_BYTES ? undefined : { body, key };
        return key;
      },
      get: (key) => held.get(key),
      set: (key, made) => {
        held.set(key, made);
      },
    };
  };
}

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
