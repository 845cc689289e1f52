import type { ReplyHeaders } from '../upstream.ts';

/** What pagination sees of a page; whoever fetches it may put more into it. */
export interface PageView {
  readonly body: unknown;
  /** The elements of the list, in order, before any is left out. */
  readonly items: readonly unknown[];
  readonly headers: ReplyHeaders;
  /**
   * The same items with the source text of each number that does not print as it was written; `undefined` where all do.
   * Without it, items that differ only beyond the precision of a double pass for the same.
   */
  exactItems?(): readonly unknown[] | undefined;
}
