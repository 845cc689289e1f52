import type { Statement } from './statements.ts';

/** Settings of a pagination, as far as a page tells them. */
export type FittingPagination =
  | { readonly kind: 'link'; readonly next?: string }
  | { readonly kind: 'token'; readonly next: string; readonly tokenParam: string }
  | { readonly kind: 'offset' | 'page'; readonly total?: string; readonly totalHeader?: string };

/**
 * The paginations that fit what a first page says of more, the likeliest first; none where it says nothing. Names of query
 * parameters are a guess: a page does not tell them.
 */
export function fittingPaginations(said: readonly Statement[]): FittingPagination[] {
  const leads = said.filter(({ sign, says }) => sign === 'next' && says === true);
  const byNext = leads.flatMap((lead): FittingPagination[] => {
    const { path, form } = lead;
    if (form === 'link') return [path === undefined ? { kind: 'link' } : { kind: 'link', next: path }];
    return form === 'token' && path !== undefined
      ? [{ kind: 'token', next: path, tokenParam: tokenParamOf(path) }]
      : [];
  });
  const isMore = said.some(({ sign, says }) =>
    sign === 'more' ? says === true : sign === 'total' || sign === 'pages',
  );
  if (leads.length === 0 && !isMore) return [];
  const total = totalOf(said);
  const numbered = said.some(({ sign, form }) => sign === 'pages' || form === 'number');
  const byNumber: FittingPagination[] = [
    { kind: numbered ? 'page' : 'offset', ...total },
    { kind: numbered ? 'offset' : 'page', ...total },
  ];
  return [...byNext, ...byNumber];
}

/** A total that is called so goes before one that may be the length of the page. */
function totalOf(said: readonly Statement[]): { readonly total?: string; readonly totalHeader?: string } {
  const totals = said.filter(({ sign }) => sign === 'total');
  const [most] = totals.toSorted((a, b) => Number(b.says) - Number(a.says));
  if (most === undefined) return {};
  if (most.path !== undefined) return { total: most.path };
  return most.name.startsWith('X-Pagination:') || most.name === 'Content-Range' ? {} : { totalHeader: most.name };
}

/** `cursor` of `next_cursor`, `pageToken` of `nextPageToken`; `nextToken` stays, since it is most often sent back so. */
function tokenParamOf(path: string): string {
  const name = path.replace(/^.*\.|"/g, '');
  const [, rest = ''] = /^next[_-]?(.+)$/i.exec(name) ?? [];
  if (rest === '' || /^token$/i.test(rest)) return name;
  return `${rest.charAt(0).toLowerCase()}${rest.slice(1)}`;
}
