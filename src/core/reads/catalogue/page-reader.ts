import { GatewayError, type GatewayErrorFacts } from '../../kernel/errors.ts';
import { excessOf } from '../../kernel/json-shape.ts';
import { compileExpression } from '../../mapping/expressions/expression.ts';
import { createMapper, type Mapped, type MapperOptions, type MappingCounts } from '../../mapping/mapper.ts';
import { createOverlooked } from '../../mapping/overlooked.ts';
import { createPageParser, type Page, type PageExpressions } from '../../mapping/page.ts';
import { textOf } from '../../upstream/client/body.ts';
import {
  checkBounds,
  digestsOf,
  isWhole,
  type ListRequest,
  type PageView,
  textDigestsOf,
  viewOf,
} from '../../upstream/paging/list-read.ts';
import type { Pagination } from '../../upstream/paging/page-address.ts';
import type { ReplyHeaders } from '../../upstream/upstream.ts';
import { type EncodedItems, encodeItems } from '../snapshots/snapshot.ts';

export interface PageReaderOptions {
  readonly list: ListRequest;
  readonly maxPageValues: number;
  readonly parse: (text: string) => Page;
  readonly map: (page: Page) => Mapped;
  /** Otherwise only whole items are compared. @default false */
  readonly idsAreUnique?: boolean;
  /** What the items expression missed on an empty page. @default not checked */
  readonly overlooked?: (page: Page) => string | undefined;
}

export interface PageBody {
  readonly body: Buffer;
  readonly headers: ReplyHeaders;
  /** The first page may be the whole list, and has no earlier page to compare with. */
  readonly first: boolean;
}

export interface MappedPage extends PageView {
  readonly items: EncodedItems;
  readonly counts: MappingCounts;
}

/** Returns a page, or why its items are unusable. Throws `upstream_invalid` for no page: only that is the upstream's fault. */
export type PageReader = (page: PageBody) => MappedPage | GatewayError;

/** A page of this size takes at most a few milliseconds and 2 MB. */
export const SMALL_BYTES = 65_536;

/** Deeper than any platform's list, and within `JSON.stringify` on every Node. */
const MAX_LEVELS = 1000;

/** Parses a page. Its body is not kept while others load: one of 2 MiB can take 60 MB of heap. */
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
      // With unique ids, a repeated item is a repeated id, and marking the id is cheaper.
      const comparesItems = compared && !(idsAreUnique && items.length === page.items.length);
      // With source texts of inexact numbers, so that items that differ beyond a double's precision differ.
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
        ids: compared ? textDigestsOf(ids) : undefined,
      };
    } catch (error) {
      if (error instanceof GatewayError && error.code === 'upstream_invalid') return error;
      throw error;
    }
  };
}

/** Throws `upstream_invalid` for a body that takes unexpected time and memory. */
function checkShape(body: Buffer, maxPageValues: number): void {
  const excess = excessOf(body, { maxValues: maxPageValues, maxLevels: MAX_LEVELS });
  if (excess === undefined) return;
  if (excess === 'levels') throw invalid({ reason: `the page nests deeper than ${MAX_LEVELS} levels` });
  throw invalid({ reason: 'the page has more values than maxPageValues', bound: 'maxPageValues' });
}

function invalid(facts: GatewayErrorFacts): GatewayError {
  return new GatewayError('upstream_invalid', facts);
}

type Expressions<P> = {
  readonly [Key in keyof P]: Key extends 'next' | 'total' ? Extract<P[Key], undefined> | string : P[Key];
};
type PaginationSettings<P = Pagination> = P extends Pagination ? Expressions<P> : never;

/** Plain data, so that it can be sent to a thread. */
export interface ListSettings extends Omit<ListRequest, 'pagination' | 'post'>, MapperOptions, PageExpressions {
  readonly resource: string;
  readonly pagination: PaginationSettings;
  readonly maxPageValues: number;
  /** @default 'fail' */
  readonly duplicateIds?: 'fail' | 'allow';
}

/** Compiles the expressions of a list's settings. */
export function compileList(settings: ListSettings): PageReaderOptions {
  const map = createMapper(settings);
  return {
    list: { ...settings, pagination: compilePagination(settings.pagination) },
    maxPageValues: settings.maxPageValues,
    parse: createPageParser(settings),
    map,
    idsAreUnique: settings.duplicateIds !== 'allow',
    overlooked: createOverlooked({ ...settings, map }),
  };
}

function compilePagination(settings: PaginationSettings): Pagination {
  const compile = (expression: string | undefined) =>
    expression === undefined ? undefined : compileExpression(expression).evaluate;
  const total = compile(settings.total);
  switch (settings.kind) {
    case 'token':
      return { ...settings, total, next: compileExpression(settings.next).evaluate };
    case 'link':
      return { ...settings, total, next: compile(settings.next) };
    case 'none':
    case 'offset':
    case 'page':
      return { ...settings, total };
  }
}
