import { hash } from 'node:crypto';
import { incomplete } from './incomplete.ts';
import type { PageView } from './list-read.ts';

/** The tokens or links of one read, each in the same small space however long it is. */
export interface Seen {
  /** Whether it is new. */
  add(text: string): boolean;
}

export function createSeen(): Seen {
  const marks = new Set<string>();
  return {
    add(text) {
      const before = marks.size;
      return marks.add(markOf(text)).size > before;
    },
  };
}

/**
 * The same pages, as long as none brings an item that an earlier one brought: then a page came twice, or the list
 * shifted while it was read and may lack items as well.
 */
export async function* withoutRepeats<P extends PageView>(pages: AsyncIterable<P>): AsyncGenerator<P> {
  const seen = new Set<string>();
  let count = 0;
  for await (const page of pages) {
    count += 1;
    const { digests = [] } = page;
    if (count > 1 && digests.some((digest) => seen.has(digest))) {
      throw incomplete('an item of an earlier page came again');
    }
    for (const digest of digests) seen.add(digest);
    yield page;
  }
}

/** 32 bytes that stand for an item. Throws `upstream_invalid` for one that nests deeper than the stack is. */
export function digestOf(item: unknown): string {
  try {
    return markOf(JSON.stringify(item));
  } catch (cause) {
    throw incomplete('an item nests too deeply', cause);
  }
}

/** 32 bytes that stand for a text. */
function markOf(text: string): string {
  return hash('sha256', text, 'binary');
}
