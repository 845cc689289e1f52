import type { Caller } from '../../kernel/caller.ts';
import { errorWithDetail, GatewayError } from '../../kernel/errors.ts';
import type { Catalogue } from '../../reads/catalogue/catalogue.ts';
import { createRecordedRead } from '../../reads/catalogue/recorded-read.ts';
import type { Representations } from '../../reads/representations/representations.ts';
import type { Load } from '../../reads/snapshots/load.ts';
import type { HttpRequest } from '../http-request.ts';
import { namesTag, prefersGzip, requireJsonAccepted } from '../request/negotiate.ts';
import type { HttpResponse } from '../response/http-response.ts';
import type { Operation } from './operation.ts';

export interface ReadsOptions {
  readonly catalogue: Catalogue;
  readonly representations: Representations;
  readonly compressMinBytes: number;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Further headers of callers that select a list. @default none */
  readonly selectingHeaders?: readonly string[] | undefined;
}

/** Header fields that select a response, beside `selectingHeaders`. */
const READ_VARY = ['Authorization', 'Accept', 'Accept-Encoding'];

export const LIST_PATH = '/mcp/v1/resources';
export const READ_PATH = '/mcp/v1/resources/read';

type Held = Pick<Load, 'snapshot' | 'cached'>;

const READ = { methods: ['GET', 'HEAD'], auth: 'required' } as const;
const PLAIN = { 'Content-Type': 'application/json; charset=utf-8' };
const GZIP = { ...PLAIN, 'Content-Encoding': 'gzip' };

export function readOperations(options: ReadsOptions): readonly Operation[] {
  const { catalogue, compressMinBytes, now, selectingHeaders = [] } = options;
  const read = createRecordedRead(catalogue, now);
  const vary = [...READ_VARY, ...selectingHeaders].join(', ');

  /** Returns the snapshot, or 304 where the caller has it. */
  function respondWith(
    request: HttpRequest,
    held: Held,
    headers: HttpResponse['headers'],
  ): HttpResponse | Promise<HttpResponse> {
    const { bytes, etag } = held.snapshot;
    const { headers: sent } = request.req;
    const ifNoneMatch = sent['if-none-match'];
    if (ifNoneMatch !== undefined && namesTag(ifNoneMatch, etag)) return { status: 304, headers, body: undefined };
    const zipped = (body: Buffer) => ({ status: 200, headers: { ...headers, ...GZIP }, body });
    const isZipped = bytes.length >= compressMinBytes && prefersGzip(sent);
    const coded = isZipped ? options.representations.gzipped(held) : undefined;
    if (coded === undefined) return { status: 200, headers: { ...headers, ...PLAIN }, body: bytes };
    return coded instanceof Promise ? coded.then(zipped) : zipped(coded);
  }

  return [
    {
      ...READ,
      vary,
      path: LIST_PATH,
      respond(request) {
        requireJsonAccepted(request.req.headers);
        const headers = { ETag: catalogue.list.etag, 'Cache-Control': 'private, no-cache' };
        return respondWith(request, { snapshot: catalogue.list }, headers);
      },
    },
    {
      ...READ,
      vary,
      isRead: true,
      path: READ_PATH,
      async respond(request, caller) {
        const name = catalogue.find(uriIn(request.target?.query ?? ''));
        requireJsonAccepted(request.req.headers);
        const loaded = await read(name, caller as Caller, request);
        return respondWith(request, loaded, headersOfLoad(loaded, now()));
      },
    },
  ];
}

/** As nearly all clients write it. */
const PLAIN_QUERY = /^uri=([\w:/.-]+)$/;

function uriIn(query: string): string {
  const plain = PLAIN_QUERY.exec(query)?.[1];
  if (plain !== undefined) return plain;
  const [uri, ...others] = new URLSearchParams(query).getAll('uri');
  if (others.length > 0) throw errorWithDetail('invalid_request', 'Send the query parameter uri once.');
  if (uri === undefined || uri === '') throw new GatewayError('uri_missing');
  return uri;
}

/** Returns the headers of a snapshot, also for 304 (RFC 9111, RFC 9211). `now`: milliseconds since the epoch. */
export function headersOfLoad(
  { snapshot, cached, collapsed, fromSharedCache, notModified, dropped }: Load,
  now: number,
) {
  const headers: Record<string, string> = { ETag: snapshot.etag };
  if (dropped > 0) headers['Portico-Dropped-Items'] = String(dropped);
  if (cached === undefined) {
    headers['Cache-Control'] = 'private, no-cache';
    headers['Cache-Status'] = collapsed ? 'portico; fwd=bypass; collapsed' : 'portico; fwd=bypass';
    return headers;
  }
  const { freshUntil, stored, forwarded, error } = cached;
  const { loadStartedAt, receivedAt = loadStartedAt } = snapshot;
  // So that `max-age` less `Age` is what is left (RFC 9111, section 4.2).
  const maxAge = freshUntil > now ? Math.max(0, seconds(freshUntil - receivedAt)) : 0;
  const held = forwarded === undefined || error !== undefined;
  const forwardedStatus = notModified ? 304 : error?.upstreamStatus;
  let status = forwarded === undefined ? 'portico; hit' : `portico; fwd=${forwarded}`;
  // Only where it differs from the status of the response.
  if (forwardedStatus !== undefined) status += `; fwd-status=${forwardedStatus}`;
  if (held) status += `; ttl=${seconds(freshUntil - now)}`;
  if (stored) status += '; stored';
  if (collapsed) status += '; collapsed';
  if (fromSharedCache) status += '; detail=shared';
  if (error !== undefined) status += `; detail=${error.code.replaceAll('_', '-')}`;
  headers['Cache-Control'] = `private, max-age=${maxAge}`;
  headers['Cache-Status'] = status;
  if (held || collapsed) headers['Age'] = String(Math.max(0, seconds(now - receivedAt)));
  return headers;
}

function seconds(ms: number): number {
  return Math.floor(ms / 1000);
}
