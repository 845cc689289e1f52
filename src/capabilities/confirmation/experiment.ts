import type { Statement } from '../../core/upstream/hints/statements.ts';
import type { ListEnd } from '../../core/upstream/paging/list-confirmation.ts';
import { inSteps, type PageSummary, sizeAsked } from '../../core/upstream/paging/list-read.ts';
import type { PageAddress } from '../../core/upstream/paging/page-address.ts';

/** Returns a page, or `undefined` if the platform refuses the request. */
export type RunExperiment = (
  parameters: PageAddress | Readonly<Record<string, string | number>>,
) => Promise<PageSummary | undefined>;

/** Whether the only page has exactly the items that were asked for. */
export function isFullPage({ list, first, last }: Pick<ListEnd, 'list' | 'first' | 'last'>): boolean {
  const { kind } = list.pagination;
  return kind !== 'offset' && kind !== 'page' && last === first && first.count > 0 && first.count === sizeAsked(list);
}

/** Whether a page has no items but those of these ids. */
export async function hasOnlyIds(ids: string, reply: PageSummary): Promise<boolean> {
  const known = new Set<string>();
  for await (const some of inSteps(ids)) for (const id of some) known.add(id);
  for await (const some of inSteps(reply.ids ?? '')) if (some.some((id) => !known.has(id))) return false;
  return true;
}

export function isTotalInBody({ sign, path }: Statement): boolean {
  return sign === 'total' && path !== undefined;
}
