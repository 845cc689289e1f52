import { hash } from 'node:crypto';
import { incomplete, type PageView } from './list-read.ts';

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
 * shifted while it was read and may lack items as well. One page alone costs nothing.
 */
export async function* withoutRepeats<P extends PageView>(pages: AsyncIterable<P>): AsyncGenerator<P> {
  const seen = new Set<string>();
  const remember = (marks: readonly string[]) => {
    for (const mark of marks) seen.add(mark);
  };
  let count = 0;
  let first: P | undefined;
  for await (const page of pages) {
    count += 1;
    if (count === 1) {
      first = page;
    } else {
      if (first !== undefined) remember(marksOf(first));
      first = undefined;
      const marks = marksOf(page);
      if (marks.some((mark) => seen.has(mark))) throw incomplete('an item of an earlier page came again');
      remember(marks);
    }
    yield page;
  }
}

function marksOf(page: PageView): string[] {
  return (page.exactItems?.() ?? page.items).map((item) => markOf(JSON.stringify(item)));
}

/** 32 bytes that stand for a text. */
function markOf(text: string): string {
  return hash('sha256', text, 'binary');
}
