import { hash } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { incomplete } from './list-read.ts';

/** Characters of one digest, and digests compared in one turn of the event loop: a page may have 75,000 items. */
const DIGEST_LENGTH = 32;
const STEP = 5000;

/** Splits the digests of a page, in steps of one turn of the event loop each. */
export async function* inSteps(digests: string): AsyncGenerator<string[]> {
  for (let from = 0; from < digests.length; from += STEP * DIGEST_LENGTH) {
    if (from > 0) await nextTurn();
    const to = Math.min(from + STEP * DIGEST_LENGTH, digests.length);
    const some: string[] = [];
    for (let at = from; at < to; at += DIGEST_LENGTH) some.push(digests.slice(at, at + DIGEST_LENGTH));
    yield some;
  }
}

/** The digests of items, as one text, which is cheap to pass between threads. Throws `upstream_invalid` if one nests too deeply. */
export function digestsOf(items: readonly unknown[]): string {
  return items.map((item) => digestOf(jsonOf(item))).join('');
}

/** The digests of texts, in the same form. */
export function textDigestsOf(texts: readonly string[]): string {
  return texts.map(digestOf).join('');
}

function jsonOf(item: unknown): string {
  try {
    return JSON.stringify(item);
  } catch (cause) {
    throw incomplete('an item nests too deeply', cause);
  }
}

/** 32 bytes, as characters. */
function digestOf(text: string): string {
  return hash('sha256', text, 'binary');
}
