import type { RequestListener } from 'node:http';

/** What a platform with a flaw does to its pages. */
export type Flaw = 'none' | 'loops' | 'shrinks' | 'repeats';

export interface PagedPlatform {
  /** Pagination settings that fit the platform. */
  readonly pagination: object;
  /** Where a page holds its items. */
  readonly items: string;
  readonly handler: RequestListener;
}

type Kind = 'token' | 'offset' | 'offset without total' | 'page' | 'page without total' | 'link' | 'link in body';

export const KINDS: readonly Kind[] = [
  'token',
  'offset',
  'offset without total',
  'page',
  'page without total',
  'link',
  'link in body',
];

/**
 * A platform that has `all` and serves 25 of them a page, whatever is asked. `loops`: a later page leads back to an
 * earlier one for ever. `shrinks`: items vanish from the third page on while the read goes on. `repeats`: the third
 * page is the second once more.
 */
export function pagedPlatform(kind: Kind, all: readonly object[], flaw: Flaw = 'none'): PagedPlatform {
  const size = 25;
  const slice = (start: number): readonly object[] => {
    if (flaw === 'repeats' && start === 2 * size) return all.slice(size, 2 * size);
    if (flaw === 'loops' && start >= 2 * size) return all.slice(0, size);
    if (flaw === 'shrinks' && start >= 2 * size) return all.slice(start, start + size - 1);
    return all.slice(start, start + size);
  };
  const reads = (key: string, url: URL, fallback = '0') => Number(url.searchParams.get(key) ?? fallback);
  const settings: Record<Kind, object> = {
    token: { kind: 'token', tokenParam: 'after', next: 'cursor' },
    offset: { kind: 'offset', total: 'total' },
    'offset without total': { kind: 'offset' },
    page: { kind: 'page', totalHeader: 'X-Total' },
    'page without total': { kind: 'page' },
    link: { kind: 'link' },
    'link in body': { kind: 'link', next: 'next' },
  };
  const handler: RequestListener = (request, response) => {
    const url = new URL(request.url ?? '/', `http://${request.headers.host}`);
    const start = kind.startsWith('page')
      ? (reads('page', url, '1') - 1) * size
      : reads(kind.startsWith('offset') ? 'offset' : 'after', url);
    const after = flaw === 'loops' && start >= 2 * size ? size : start + size;
    const more = after < all.length;
    const next = `${url.origin}${url.pathname}?after=${after}`;
    const body = {
      data: { list: slice(start) },
      ...(kind === 'token' && { cursor: more ? String(after) : '' }),
      ...(kind === 'offset' && { total: all.length }),
      ...(kind === 'link in body' && { next: more ? next : null }),
    };
    response.setHeader('content-type', 'application/json');
    if (kind === 'page') response.setHeader('x-total', all.length);
    if (kind === 'link' && more) response.setHeader('link', `<${next}>; rel="next", <${url.origin}/>; rel="first"`);
    response.end(JSON.stringify(body));
  };
  return { pagination: settings[kind], items: 'data.list', handler };
}
