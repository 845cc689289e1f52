import { inSteps } from '../../upstream/pagination/digests.ts';
import type { MappedPage } from './page-reader.ts';

/** Counts duplicate ids of one list, page by page, in steps of one turn of the event loop. */
export function createDistinctIds(): (page: MappedPage) => Promise<number> {
  const seen = new Set<string>();
  return async ({ ids, items, counts }) => {
    // The page is the whole list.
    if (ids === undefined) return counts.repeatedIds;
    const before = seen.size;
    for await (const some of inSteps(ids)) for (const id of some) seen.add(id);
    return items.starts.length - (seen.size - before);
  };
}
