import { digest } from './digest.ts';
import { invalid } from './invalid.ts';
import type { PageView } from './page-view.ts';

/**
 * The same pages, as long as none brings an item that an earlier one brought: then a page came twice, or the list
 * shifted while it was read and may lack items as well. One page alone costs nothing.
 */
export async function* withoutRepeats<P extends PageView>(pages: AsyncIterable<P>): AsyncGenerator<P> {
  const seen = new Set<string>();
  let count = 0;
  let first: P | undefined;
  for await (const page of pages) {
    count += 1;
    if (count === 1) {
      first = page;
    } else {
      if (first !== undefined) remember(seen, marksOf(first));
      first = undefined;
      const marks = marksOf(page);
      if (marks.some((mark) => seen.has(mark))) throw invalid('an item of an earlier page came again');
      remember(seen, marks);
    }
    yield page;
  }
}

function remember(seen: Set<string>, marks: readonly string[]): void {
  for (const mark of marks) seen.add(mark);
}

function marksOf(page: PageView): string[] {
  return (page.exactItems?.() ?? page.items).map((item) => digest(JSON.stringify(item)));
}
