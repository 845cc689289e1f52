/** Signs of more items. `previous`: a page before the first. `fullPage`: as many items as requested, which no reply states. */
export const SIGNS = ['total', 'pages', 'more', 'next', 'previous', 'fullPage'] as const;

export type Sign = (typeof SIGNS)[number];

/** Some platforms count the items of one page in these. */
export const COUNTS: readonly string[] = [
  ...['count', 'itemCount', 'itemsCount', 'recordCount', 'recordsCount', 'resultCount', 'resultsCount', 'numItems'],
  ...['numResults', 'numberOfItems', 'numberOfResults'],
];

/** Totals after filtering: beside one of them, any other total counts items that no read returns. */
export const FILTERED: readonly string[] = ['filterCount', 'recordsFiltered'];

/** Members in any case and with any separators: `total_count`, `@odata.count`. */
export const MEMBERS: Readonly<Record<string, readonly string[]>> = {
  total: [
    ...['total', 'totalCount', 'totalItems', 'totalResults', 'totalRecords', 'totalElements', 'totalEntries'],
    ...['totalHits', 'totalRows', 'totalObjects', 'totalSize', 'totalNumber', 'totalData', 'totalAffectedItems'],
    ...['totalDocs', 'totalMatches', 'totalItemCount', 'totalRecordCount', 'totalResultCount', 'totalObjectCount'],
    ...['countTotal', 'itemsTotal', 'itemTotal', 'resultTotal', 'fullCount', 'numFound'],
    ...['odataCount', ...FILTERED, ...COUNTS],
  ],
  pages: [
    'pages',
    'totalPages',
    'totalPage',
    'pageCount',
    'pagesCount',
    'pagesTotal',
    'numPages',
    'lastPage',
    'maxPage',
  ],
  more: [
    ...['more', 'hasMore', 'hasNext', 'hasNextPage', 'hasMoreItems', 'hasMoreResults', 'hasMorePages', 'hasMoreData'],
    ...['hasMoreRecords', 'moreAvailable', 'moreResults', 'moreItems', 'moreDataAvailable', 'isMore', 'isTruncated'],
    ...['truncated', 'incompleteResults', 'nextPageExists', 'remainingItemCount'],
  ],
  end: ['last', 'isLast', 'lastPage', 'isLastPage', 'done', 'endOfList', 'endOfRecords', 'isEnd', 'noMore'],
  next: [
    ...['next', 'nextPage', 'nextLink', 'nextUrl', 'nextUri', 'nextHref', 'nextCursor', 'nextToken', 'nextMarker'],
    ...['nextKey', 'nextId', 'nextOffset', 'nextStart', 'nextPageToken', 'nextPageUrl', 'nextPageUri', 'nextPageLink'],
    ...[
      'nextPageCursor',
      'nextPageNumber',
      'nextPageId',
      'nextPageStart',
      'nextRecordsUrl',
      'nextResults',
      'nextBatch',
    ],
    ...['nextContinuationToken', 'continuationToken', 'continuation', 'continue', 'resumptionToken', 'paginationToken'],
    ...['lastEvaluatedKey', 'cursorNext', 'odataNextLink'],
  ],
  previous: [
    ...['prev', 'previous', 'prevPage', 'previousPage', 'prevLink', 'previousLink', 'prevUrl', 'previousUrl'],
    ...['prevPageUrl', 'previousPageUrl', 'hasPrev', 'hasPrevious', 'hasPrevPage', 'hasPreviousPage'],
  ],
};

/** Members around such members, nested if need be: `meta.pagination.total`. */
export const META: readonly string[] = [
  ...['meta', 'metadata', 'pagination', 'paging', 'paginator', 'page', 'pageInfo', 'links', 'cursor'],
  ...['cursors', 'responseMetadata', 'resultInfo', 'resultSet', 'additionalData', 'listInfo', 'listMetadata', 'info'],
  ...['pager', 'pageable', 'navigation', 'searchMetadata'],
];

/** Headers beside `Link` (RFC 8288), `Content-Range` and, as JSON, `X-Pagination`. */
export const HEADERS: Readonly<Record<'total' | 'pages' | 'more' | 'next', readonly string[]>> = {
  total: [
    ...['X-Total-Count', 'X-Total', 'X-Total-Items', 'X-Total-Results', 'X-Total-Records', 'X-WP-Total', 'Total-Count'],
    ...['X-Pagination-Total', 'X-Pagination-Total-Count', 'X-Paging-Total', 'X-Count-Total'],
  ],
  pages: ['X-Total-Pages', 'X-WP-TotalPages', 'X-Pagination-Page-Count', 'X-Pagination-Total-Pages', 'X-Page-Count'],
  more: ['X-Has-More', 'X-Has-Next', 'X-Has-Next-Page'],
  next: ['X-Next-Page', 'X-Next', 'X-Next-Cursor', 'X-Next-Token', 'X-Next-Page-Token', 'X-Continuation-Token'],
};
