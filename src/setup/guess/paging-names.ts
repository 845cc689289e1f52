import type { ParameterRole } from '../describe/listing.ts';
import { plainName } from '../describe/shape.ts';

/** Query parameters as platforms spell them, the commonest first. They are tried if no document names any. */
export const SPELLINGS: Readonly<Record<ParameterRole, readonly string[]>> = {
  size: words('limit per_page page_size pageSize size perPage max_results maxResults $top count'),
  token: words('pageToken page_token cursor next_token nextToken after continuationToken marker'),
  offset: words('offset skip start startAt $skip from startIndex'),
  page: words('page page_number pageNumber pageIndex index p'),
};

/** All names of query parameters, without case and separators, the surest first. */
export const PARAMETERS: Readonly<Record<ParameterRole, readonly string[]>> = {
  size: plain([
    ...SPELLINGS.size,
    ...words('pagelimit rows first take max pagelength pagelen length num n resultsperpage'),
    ...words('itemsperpage maxitems maxrecords maxcount batchsize'),
  ]),
  token: plain([
    ...SPELLINGS.token,
    ...words('nextpagetoken nextcursor continuation pageafter pagecursor startingafter scrollid next'),
  ]),
  offset: plain([...SPELLINGS.offset, 'pageoffset']),
  page: plain([...SPELLINGS.page, ...words('pageno currentpage pagenum')]),
};

/** Parameters whose name mentions pages, whatever they do. */
export const PAGE_WORDS = /page|paging|pagination|offset|limit|cursor|skip|per_?page/i;

/** Totals of what a filter keeps. Beside one of them, another total counts more than a read can return. */
export const FILTERED_TOTALS = plain(words('filterCount recordsFiltered filteredCount filteredTotal totalFiltered'));

/** Members of a page that describe paging, without case and separators, the surest first. */
export const PAGE_MEMBERS = {
  link: plain(words('odataNextLink nextLink nextPageUrl nextUrl nextPageLink nextUri next nextPage')),
  token: plain([
    ...words('nextPageToken nextCursor nextToken nextMarker continuationToken continuation continue endCursor'),
    ...words('scrollId nextPage after cursor next'),
    ...words(
      'nextUrl nextUri nextKey nextId nextPageId nextPageCursor nextContinuationToken resumptionToken paginationToken',
    ),
    ...words('nextBatch lastEvaluatedKey cursorNext'),
  ]),
  total: plain([
    ...FILTERED_TOTALS,
    ...words('total totalCount totalItems totalResults totalRecords totalElements totalEntries totalHits totalRows'),
    ...words('totalObjects totalSize totalNumber totalData totalAffectedItems totalDocs totalMatches totalItemCount'),
    ...words(
      'countTotal itemsTotal fullCount nbHits numFound found odataCount count itemCount recordCount resultCount',
    ),
    ...words('numItems numResults numberOfItems numberOfResults'),
  ]),
  more: plain(
    words(
      'more hasMore hasNext hasNextPage hasMoreItems hasMoreResults hasMorePages moreAvailable isTruncated truncated',
    ),
  ),
  offset: words('offset skip startat startindex start from'),
  page: words('currentpage pagenumber pageindex page number index'),
} as const satisfies Record<string, readonly string[]>;

export const TOTAL_HEADERS = words(
  'x-total-count x-total x-total-items x-total-results x-total-records x-wp-total total-count x-pagination-total x-pagination-total-count',
);

function words(text: string): readonly string[] {
  return text.split(' ');
}

function plain(names: readonly string[]): readonly string[] {
  return [...new Set(names.map(plainName))];
}

/** Parameters that are named otherwise than the member that holds their value. */
const RENAMED: Readonly<Record<string, string>> = {
  ...{ endcursor: 'after', nextcursor: 'cursor', nextmarker: 'marker' },
  ...{ nextpage: 'page', currentpage: 'page', number: 'page' },
};

/** Returns the query parameter that takes what a page holds at `path`: `page_token` for `next_page_token`. */
export function parameterFor(path: readonly string[]): string {
  const key = path.at(-1) ?? '';
  const token = /^next(_page_token|PageToken)$/.exec(key)?.[1]?.replace(/^_/, '');
  return RENAMED[plainName(key)] ?? (token && token.charAt(0).toLowerCase() + token.slice(1)) ?? key;
}
