import { hash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { Snapshot } from './snapshot.ts';

/** What was made of one upstream answer. */
export interface Made {
  readonly snapshot: Snapshot;
  /** Items left out because they could not be mapped. */
  readonly dropped: number;
}

/** What was made of the upstream answers of one resource, by their content. */
export interface Memory {
  /**
   * The name of a content: a hash. Nobody who does not have the content can find what was made of it. The content is
   * kept for a while, and must not change.
   */
  nameOf(content: Buffer): string;
  recall(name: string): Made | undefined;
  keep(name: string, made: Made): void;
}

/** Largest content that is kept itself, one for each resource: small enough not to be counted. */
const LATEST_MAX_BYTES = 262_144;

/** Keys, objects and the table itself, for one entry: more than they take. */
const ENTRY_BYTES = 1024;

/**
 * Mapping is pure, so that the same content under the same settings gives the same bytes, whoever it came for. Gives a
 * memory for each resource; together they hold `maxBytes`, 0 for none.
 */
export function createMemories(maxBytes: number): (resource: string) => Memory | undefined {
  if (maxBytes === 0) return () => undefined;
  const held = new LRUCache<string, Made>({
    maxSize: maxBytes,
    sizeCalculation: ({ snapshot }) => ENTRY_BYTES + snapshot.bytes.length + snapshot.itemStarts.byteLength,
  });
  return (resource) => {
    let latest: { readonly content: Buffer; readonly name: string } | undefined;
    return {
      nameOf(content) {
        // Most often an upstream sends what it sent last, and to compare costs a tenth of what to hash does.
        if (latest?.content.equals(content)) return latest.name;
        const name = `${hash('sha256', content, 'base64url')} ${resource}`;
        latest = content.length > LATEST_MAX_BYTES ? undefined : { content, name };
        return name;
      },
      recall: (name) => held.get(name),
      keep: (name, made) => {
        held.set(name, made);
      },
    };
  };
}
