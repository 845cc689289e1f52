import { performance } from 'node:perf_hooks';
import type { Caller } from '../../kernel/caller.ts';
import { isDeadline, withDeadline } from '../../kernel/deadline.ts';
import { GatewayError } from '../../kernel/errors.ts';
import type { Events } from '../../kernel/events.ts';
import type { Catalogue } from '../../reads/catalogue/catalogue.ts';
import type { Coding, Representations } from '../../reads/representations/representations.ts';
import type { Load } from '../../reads/snapshots/load.ts';
import { cacheOutcome } from '../../reads/snapshots/with-cache.ts';
import type { Exchange } from '../exchange.ts';
import {
  acceptedCodings,
  acceptsIdentity,
  type Codings,
  chooseCoding,
  namesTag,
  requireJsonAccepted,
} from '../request/request-head.ts';
import type { HttpResponse } from '../response/send.ts';
import type { CallerOperation } from './operation.ts';

export interface ReadsOptions {
  readonly catalogue: Catalogue;
  readonly representations: Representations;
  readonly compressMinBytes: number;
  readonly readDeadlineMs: number;
  readonly events: Events;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Headers beside `Authorization` in which callers send credentials. @default none */
  readonly otherCredentials?: readonly string[] | undefined;
}

/** Header fields that select a response, beside those of `otherCredentials`. */
export const READ_VARY = ['Authorization', 'Accept', 'Accept-Encoding'];

export const LIST_PATH = '/mcp/v1/resources';
export const READ_PATH = '/mcp/v1/resources/read';

type Held = Pick<Load, 'snapshot' | 'cached'>;

const MEDIA_TYPE = 'Content-Type: application/json; charset=utf-8\r\n';
const NO_HEADERS: readonly string[] = [];
const NOT_COMPRESSED = 'The response could not be compressed in time. Accept it uncompressed, or try again later.';
const READ = { methods: ['GET', 'HEAD'], takesBody: false, isProbe: false, open: false } as const;

export function readOperations(options: ReadsOptions): readonly CallerOperation[] {
  const { catalogue, compressMinBytes, readDeadlineMs, events, now, otherCredentials = [] } = options;
  const vary = [...READ_VARY, ...otherCredentials].join(', ');
  const spellings = spellingsOf(catalogue);

  /** Returns the snapshot, or 304 where the caller has it. `linesAt` takes the time at which it is sent. */
  function respondWith(
    exchange: Exchange,
    held: Held,
    codings: Codings,
    time: number,
    linesAt: (time: number) => string,
  ): HttpResponse | Promise<HttpResponse> {
    const { bytes, etag, representations } = held.snapshot;
    const { ifNoneMatch } = exchange.fields;
    if (ifNoneMatch !== undefined && namesTag(ifNoneMatch, etag)) {
      return { status: 304, headers: NO_HEADERS, lines: linesAt(time), body: undefined };
    }
    const coding = chooseCoding(codings, bytes.length, compressMinBytes);
    const respond = (coded: Buffer | undefined, sentAt: number): HttpResponse => {
      const lines = linesAt(sentAt) + MEDIA_TYPE;
      if (coding === undefined || coded === undefined) return { status: 200, headers: NO_HEADERS, lines, body: bytes };
      return { status: 200, headers: NO_HEADERS, lines: `${lines}Content-Encoding: ${coding}\r\n`, body: coded };
    };
    const coded = coding && representations[coding];
    if (coding === undefined || coded !== undefined) return respond(coded, time);
    return encodeInTime(exchange, held, coding, codings).then((made) => respond(made, now()));
  }

  /** Compresses in time. Otherwise returns `undefined`, or throws `overloaded` if the caller requires a coding. */
  async function encodeInTime(exchange: Exchange, held: Held, coding: Coding, codings: Codings) {
    const leftMs = Math.max(exchange.begun + readDeadlineMs - performance.now(), 1);
    try {
      return await withDeadline(leftMs, exchange.signal, async (signal) =>
        options.representations.encoded(held, coding, signal),
      );
    } catch (error) {
      if (!isDeadline(error)) throw error;
      events.limitReached?.({ bound: 'http.maxCompressions' });
      if (acceptsIdentity(codings)) return undefined;
      throw new GatewayError('overloaded', { detail: NOT_COMPRESSED, reason: 'not compressed in time' });
    }
  }

  return [
    {
      ...READ,
      vary,
      path: LIST_PATH,
      respond(exchange: Exchange) {
        requireJsonAccepted(exchange.fields);
        const codings = acceptedCodings(exchange.fields);
        const lines = `ETag: ${catalogue.list.etag}\r\nCache-Control: private, no-cache\r\n`;
        return respondWith(exchange, { snapshot: catalogue.list }, codings, 0, () => lines);
      },
    },
    {
      ...READ,
      vary,
      isRead: true,
      path: READ_PATH,
      targets: spellings.map(({ target }) => target),
      async respond(exchange: Exchange, caller: Caller) {
        const { url, target } = exchange;
        const usual = spellings.find((one) => one.target === url);
        const name = catalogue.find(usual === undefined ? uriIn(target?.query ?? '') : usual.uri);
        exchange.resource = name;
        requireJsonAccepted(exchange.fields);
        const codings = acceptedCodings(exchange.fields);
        exchange.waitingSince = performance.now();
        const loaded = await catalogue.read(name, caller, exchange);
        exchange.waitingSince = undefined;
        exchange.upstreamMs = loaded.upstreamMs;
        const time = now();
        exchange.cache = cacheOutcome(loaded, time);
        exchange.staleFor = loaded.cached?.error;
        return respondWith(exchange, loaded, codings, time, (sentAt) => headersOfLoad(loaded, sentAt));
      },
    },
  ];
}

/** The targets that nearly all clients send, and their URIs. */
function spellingsOf({ offered }: Catalogue): readonly { readonly target: string; readonly uri: string }[] {
  return offered.flatMap(({ definition: { uri } }) => [
    { target: `${READ_PATH}?uri=${uri}`, uri },
    { target: `${READ_PATH}?uri=${encodeURIComponent(uri)}`, uri },
  ]);
}

function uriIn(query: string): string {
  const [uri, ...others] = new URLSearchParams(query).getAll('uri');
  if (others.length > 0) throw new GatewayError('uri_repeated');
  if (uri === undefined || uri === '') throw new GatewayError('uri_missing');
  return uri;
}

/** Returns the header lines of a snapshot, also for 304 (RFC 9111, RFC 9211). `now`: milliseconds since the epoch. */
export function headersOfLoad({ snapshot, cached, collapsed, copied, renewed, dropped }: Load, now: number): string {
  let lines = `ETag: ${snapshot.etag}\r\n`;
  if (dropped > 0) lines += `Portico-Dropped-Items: ${dropped}\r\n`;
  if (cached === undefined) {
    const status = collapsed ? 'portico; fwd=bypass; collapsed' : 'portico; fwd=bypass';
    return `${lines}Cache-Control: private, no-cache\r\nCache-Status: ${status}\r\n`;
  }
  const { freshUntil, stored, forwarded, error } = cached;
  const maxAge = freshUntil > now ? seconds(freshUntil - snapshot.loadedAt) : 0;
  const held = forwarded === undefined || error !== undefined;
  const forwardedStatus = renewed ? 304 : error?.upstreamStatus;
  let status = forwarded === undefined ? 'portico; hit' : `portico; fwd=${forwarded}`;
  // Only where it differs from the status of the response.
  if (forwardedStatus !== undefined) status += `; fwd-status=${forwardedStatus}`;
  if (held) status += `; ttl=${seconds(freshUntil - now)}`;
  if (stored) status += '; stored';
  if (collapsed) status += '; collapsed';
  if (copied) status += '; detail=shared';
  if (error !== undefined) status += `; detail=${error.code.replaceAll('_', '-')}`;
  lines += `Cache-Control: private, max-age=${maxAge}\r\nCache-Status: ${status}\r\n`;
  return held || collapsed ? `${lines}Age: ${Math.max(0, seconds(now - snapshot.loadedAt))}\r\n` : lines;
}

function seconds(ms: number): number {
  return Math.floor(ms / 1000);
}
