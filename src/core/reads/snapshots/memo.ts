import { hash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { Snapshot } from './snapshot.ts';

/** Minimal result of one upstream reply. */
export interface Memoized {
  readonly snapshot: Snapshot;
}

/** Results of one resource's replies, by body content. */
export interface Memo<Made extends Memoized> {
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
export function createMemos<Made extends Memoized>(maxBytes: number): (resource: string) => Memo<Made> | undefined {
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
