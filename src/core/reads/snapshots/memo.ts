import { hash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { Snapshot } from './snapshot.ts';

/** What was made of one upstream response, at least. */
export interface Memoized {
  readonly snapshot: Snapshot;
}

/** What was made of the upstream responses of one resource, by the content of their bodies. */
export interface Memo<Made extends Memoized> {
  /**
   * The key of a body: a hash of it, and the name of the resource. Nobody who does not have the body can find what was
   * made of it. The body may be kept for a while, and must not change.
   */
  keyOf(body: Buffer): string;
  get(key: string): Made | undefined;
  set(key: string, made: Made): void;
}

/** Largest body that is kept itself, one for each resource: small enough not to be counted. */
const LATEST_MAX_BYTES = 262_144;

/** Keys, objects and the table itself, for one entry: more than they take. */
const ENTRY_BYTES = 1024;

/**
 * Mapping is pure: under the same settings the same body gives the same bytes, whoever it came for. Gives a memo for
 * each resource; together they hold `maxBytes`, 0 for none.
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
        // Most often an upstream sends what it sent last, and to compare costs a tenth of what to hash does.
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
