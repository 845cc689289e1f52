import type { RequestListener } from 'node:http';

const SIZE = 25;

/** A platform that has `all` and serves 25 of them a page, whatever is asked. Its items are at `data.list`. */
export function pagedPlatform(
  kind: 'offset' | 'page' | 'link' | 'link in body',
  all: readonly object[],
): RequestListener {
  return (request, response) => {
    const url = new URL(request.url ?? '/', `http://${request.headers.host}`);
    const start =
      kind === 'page' ? (Number(url.searchParams.get('page') ?? 1) - 1) * SIZE : Number(url.searchParams.get('offset'));
    const more = start + SIZE < all.length;
    const next = `${url.origin}${url.pathname}?offset=${start + SIZE}`;
    response.setHeader('content-type', 'application/json');
    if (kind === 'page') response.setHeader('x-total', all.length);
    if (kind === 'link' && more) response.setHeader('link', `<${next}>; rel="next", <${url.origin}/>; rel="first"`);
    response.end(
      JSON.stringify({
        data: { list: all.slice(start, start + SIZE) },
        ...(kind === 'offset' && { total: all.length }),
        ...(kind === 'link in body' && { next: more ? next : null }),
      }),
    );
  };
}
