export interface DemoItem {
  readonly id: string;
  readonly name: string;
  /** Absent in lists of things that are not installed; then the `installed` filter keeps the item. */
  readonly installed?: boolean;
  /** Tenants whose callers see the item. Absent: all. */
  readonly tenants?: readonly string[];
}

export interface DemoPage {
  readonly items: readonly DemoItem[];
  readonly token: string;
  readonly nextPageToken: string;
}

/** Returns the page that `query` requests, of at most `maxPageSize` items (AIP-158), or what is wrong with the query. */
export function cutPage(
  all: readonly DemoItem[],
  query: URLSearchParams,
  maxPageSize: number,
): DemoPage | { readonly issue: string } {
  const installed = query.get('installed') ?? '';
  const items = installed === '' ? all : all.filter((item) => String(item.installed ?? installed) === installed);
  const token = query.get('pageToken') ?? '';
  const start = token === '' ? 0 : items.findIndex(({ id }) => id === token);
  if (start === -1) return { issue: 'pageToken must be a nextPageToken of this list.' };
  const size = Math.trunc(Number(query.get('pageSize')));
  const end = start + (size > 0 ? Math.min(size, maxPageSize) : maxPageSize);
  // A page is named by its first item.
  return { items: items.slice(start, end), token: items[start]?.id ?? '', nextPageToken: items[end]?.id ?? '' };
}
