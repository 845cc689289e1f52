import { hash } from 'node:crypto';
import type { Caller } from '../../kernel/caller.ts';
import { createSizedLru } from '../../kernel/lru.ts';
import type { Item } from '../../resources/resource.ts';

/** A hash of each item by its id. */
export type Digest = ReadonlyMap<string, string>;

export interface Changes {
  readonly new: readonly string[];
  readonly changed: readonly string[];
  readonly gone: readonly string[];
}

/** 66 bits: two versions of one item have the same with a chance of 1 in 10^19. */
const HASH_LENGTH = 11;

/** Charge for an entry beside its id. */
const ENTRY_BYTES = 128;

/** Lists of one resource whose digests are kept for a caller. */
const MAX_LISTS = 4;

const MAX_AGE_MS = 3_600_000;

interface Kept {
  readonly etag: string;
  readonly digest: Digest;
}

export function hashOf(item: Item): string {
  return hash('sha256', JSON.stringify(item), 'base64url').slice(0, HASH_LENGTH);
}

/**
 * Digests of the lists whose changes callers have asked for: ids and hashes, `maxBytes` of all callers, for an hour and never past
 * a token's end. The least recent one is forgotten.
 */
export function createDigests(maxBytes: number, now: () => number) {
  const digests = createSizedLru<string, readonly Kept[]>({
    maxSize: maxBytes,
    sizeOf: (lists) => lists.reduce((sum, { digest }) => sum + bytesOf(digest), 1),
  });
  const keyOf = ({ credentialKey, cacheScope }: Caller, resource: string) =>
    `${credentialKey} ${cacheScope} ${resource}`;
  return {
    /** Keeps a list, and returns its changes since the one with this entity tag; `undefined` where that is not known. */
    since(caller: Caller, resource: string, etag: string, list: Kept): Changes | undefined {
      const key = keyOf(caller, resource);
      const lists = digests.get(key) ?? [];
      const others = lists.filter((kept) => kept.etag !== list.etag);
      const leftMs = (caller.expiresAt ?? Number.POSITIVE_INFINITY) - now();
      digests.set(key, [list, ...others].slice(0, MAX_LISTS), Math.min(leftMs, MAX_AGE_MS));
      const before = lists.find((kept) => kept.etag === etag)?.digest;
      return before && changesBetween(before, list.digest);
    },
  };
}

function bytesOf(digest: Digest): number {
  return digest.keys().reduce((sum, id) => sum + 2 * id.length + ENTRY_BYTES, 0);
}

function changesBetween(before: Digest, after: Digest): Changes {
  const kept = [...after].filter(([id]) => before.has(id));
  return {
    new: [...after.keys()].filter((id) => !before.has(id)),
    changed: kept.flatMap(([id, one]) => (before.get(id) === one ? [] : [id])),
    gone: [...before.keys()].filter((id) => !after.has(id)),
  };
}
