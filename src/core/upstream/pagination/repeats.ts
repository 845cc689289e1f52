import { hash } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { incomplete } from './incomplete.ts';
import type { PageView } from './list-read.ts';

/** Characters of one digest, and how many are compared in one step: a page may have 75,000 items. */
const DIGEST_LENGTH = 32;
const STEP = 5000;

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
  for await (const page of pages) {
    const { digests = '' } = page;
    // Those of one page may be the same: they are compared with the earlier ones before the first of them is added.
    for await (const some of inSteps(digests)) {
      if (some.some((digest) => seen.has(digest))) throw incomplete('an item of an earlier page came again');
    }
    for await (const some of inSteps(digests)) for (const digest of some) seen.add(digest);
    yield page;
  }
}

/** The digests or marks of a page, so many in a turn of the event loop. */
export async function* inSteps(digests: string): AsyncGenerator<string[]> {
  for (let from = 0; from < digests.length; from += STEP * DIGEST_LENGTH) {
    if (from > 0) await nextTurn();
    const to = Math.min(from + STEP * DIGEST_LENGTH, digests.length);
    const some: string[] = [];
    for (let at = from; at < to; at += DIGEST_LENGTH) some.push(digests.slice(at, at + DIGEST_LENGTH));
    yield some;
  }
}

/** 32 characters for each item, that stand for it; one after the other, in one text that is soon handed on. */
export function digestsOf(items: readonly unknown[]): string {
  return items.map(digestOf).join('');
}

/** Throws `upstream_invalid` for one that nests deeper than the stack is. */
function digestOf(item: unknown): string {
  try {
    return markOf(JSON.stringify(item));
  } catch (cause) {
    throw incomplete('an item nests too deeply', cause);
  }
}

/** 32 characters for each text, one after the other. */
export function marksOf(texts: readonly string[]): string {
  return texts.map(markOf).join('');
}

/** 32 bytes that stand for a text. */
function markOf(text: string): string {
  return hash('sha256', text, 'binary');
}
