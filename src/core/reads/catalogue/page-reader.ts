import { GatewayError, type GatewayErrorFacts } from '../../kernel/errors.ts';
import { excessOf } from '../../kernel/json-shape.ts';
import type { MappingCounts } from '../../mapping/findings.ts';
import type { Mapped } from '../../mapping/mapper.ts';
import type { Page } from '../../mapping/page.ts';
import { textOf } from '../../upstream/client/body.ts';
import { checkBounds, isWhole, type ListRequest, type PageView, viewOf } from '../../upstream/pagination/list-read.ts';
import { digestsOf, marksOf } from '../../upstream/pagination/repeats.ts';
import type { ReplyHeaders } from '../../upstream/upstream.ts';
import { type EncodedItems, encodeItems } from '../snapshots/snapshot.ts';

export interface PageReaderOptions {
  readonly list: ListRequest;
  /** Objects, lists and members of one page, roughly; more is an error. */
  readonly maxPageValues: number;
  readonly parse: (text: string) => Page;
  readonly map: (page: Page) => Mapped;
  /** Whether an id that comes again in a list is an error; else only whole items are compared. @default false */
  readonly idsAreUnique?: boolean;
  /** What the items expression passed over in a page that has none. @default nothing is looked for */
  readonly overlooked?: (page: Page) => string | undefined;
}

/** A page as it came. */
export interface PageBody {
  readonly body: Buffer;
  readonly headers: ReplyHeaders;
  /** Whether it is the first page: then it may be all of the list, and need not be compared with others. */
  readonly first: boolean;
}

/** A page, mapped: what is left of it once nobody needs its body any more. */
export interface MappedPage extends PageView {
  readonly items: EncodedItems;
  /** Those of the page by itself. */
  readonly counts: MappingCounts;
}

/**
 * A page, or why a list cannot be made of it. Throws `upstream_invalid` where it is no page; what is wrong with a page's
 * items, or with what it says of the list, says nothing about whether the upstream is well.
 */
export type PageReader = (page: PageBody) => MappedPage | GatewayError;

/** A page up to this takes a few milliseconds and 2 MB at most, whatever it holds. */
export const SMALL_BYTES = 65_536;

/** Deeper than any list of a platform, and no deeper than `JSON.stringify` of any Node gets. */
const MAX_LEVELS = 1000;

/**
 * Parses a page, and does all that its parsed body is needed for, so that this need not be kept: other pages are waited for
 * meanwhile, and one of 2 MiB may take 60 MB of the heap.
 */
export function createPageReader(options: PageReaderOptions): PageReader {
  const { list, maxPageValues, parse, map, overlooked, idsAreUnique = false } = options;
  return ({ body, headers, first }) => {
    if (body.length > SMALL_BYTES) checkShape(body, maxPageValues);
    const page = parse(textOf(body));
    try {
      const view = viewOf(list.pagination, { ...page, headers });
      checkBounds(list, { items: view.count });
      const { items, ...counts } = map(page);
      const compared = !(first && isWhole(list.pagination, view));
      const ids = items.map(({ id = '' }) => id);
      // Where each item has an id of its own, a repeated item is a repeated id, and a mark of the id is cheaper.
      const comparesItems = compared && !(idsAreUnique && items.length === page.items.length);
      // With the source text of each number that does not print as it was written, so that items that differ only beyond
      // the precision of a double are told apart.
      const digests = comparesItems ? digestsOf(page.exactItems() ?? page.items) : undefined;
      return {
        ...view,
        items: encodeItems(items),
        counts: {
          ...counts,
          repeatedIds: ids.length - new Set(ids).size,
          overlooked: page.items.length === 0 ? overlooked?.(page) : undefined,
        },
        digests,
        ids: compared ? marksOf(ids) : undefined,
      };
    } catch (error) {
      if (error instanceof GatewayError && error.code === 'upstream_invalid') return error;
      throw error;
    }
  };
}

/** Throws `upstream_invalid` for a body whose parsing would take more time and memory than its bytes let expect. */
function checkShape(body: Buffer, maxPageValues: number): void {
  const excess = excessOf(body, { maxValues: maxPageValues, maxLevels: MAX_LEVELS });
  if (excess === undefined) return;
  if (excess === 'levels') throw invalid({ reason: `the page nests deeper than ${MAX_LEVELS} levels` });
  throw invalid({ reason: 'the page holds more values than maxPageValues', bound: 'maxPageValues' });
}

function invalid(facts: GatewayErrorFacts): GatewayError {
  return new GatewayError('upstream_invalid', facts);
}
