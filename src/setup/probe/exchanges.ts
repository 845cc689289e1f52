import { setTimeout as sleep } from 'node:timers/promises';
import { decodeBody } from '../../core/upstream/client/receive.ts';
import type { Tap, TappedRequest } from '../../core/upstream/client/tap.ts';
import type { ReplyHeaders } from '../../core/upstream/upstream.ts';
import { PROBE } from '../input-bounds.ts';

/** One request of a read, and its response. */
export interface Exchange {
  readonly request: TappedRequest;
  /** 0 if there was no response. */
  readonly status: number;
  readonly headers: ReplyHeaders;
  /** Milliseconds from the request to the end of a page, or to the headers of another response. */
  readonly ms: number;
  /** The decoded body of one of the first pages. */
  readonly page?: Buffer;
  /** The beginning of a body that is not a page. */
  readonly rest: readonly Buffer[];
  /** Resolves at the end of the body. */
  readonly ended: Promise<void>;
}

/** The exchanges of one read. */
export interface Exchanges {
  readonly tap: Tap;
  /** In the order of the requests. */
  readonly sent: readonly Exchange[];
  /** In the order of the responses. */
  readonly answered: readonly Exchange[];
  /** Number of pages that were received. */
  readonly pages: number;
}

export interface RecordOptions {
  /** Called with each request before it is sent. */
  readonly onRequest: (request: TappedRequest) => void;
  /** Called with the number of pages so far. */
  readonly onPage?: (pages: number) => void;
}

/** Records the exchanges of one read. */
export function recordExchanges({ onRequest, onPage = () => {} }: RecordOptions): Exchanges {
  const sent: Exchange[] = [];
  const answered: Exchange[] = [];
  const exchanges = { sent, answered, pages: 0 };
  const tap: Tap = (request) => {
    onRequest(request);
    const begun = performance.now();
    const { promise: ended, resolve: end } = Promise.withResolvers<void>();
    const rest: Buffer[] = [];
    let restBytes = 0;
    const exchange = { request, status: 0, headers: {} as ReplyHeaders, ms: 0, rest, ended };
    sent.push(exchange);
    return {
      answered(status, headers) {
        answered.push(Object.assign(exchange, { status, headers, ms: performance.now() - begun }));
      },
      read(body) {
        end();
        exchanges.pages += 1;
        exchange.ms = performance.now() - begun;
        if (exchanges.pages <= PROBE.pages) Object.assign(exchange, { page: Buffer.from(body) });
        onPage(exchanges.pages);
      },
      rest(chunk) {
        if (chunk === undefined) end();
        else if (restBytes < PROBE.bodyBytes) rest.push(Buffer.from(chunk));
        restBytes += chunk?.length ?? 0;
      },
    };
  };
  return Object.assign(exchanges, { tap });
}

/** Returns the beginning of a body that is not a page. Waits for it briefly. Empty if it cannot be decoded. */
export async function restOf({ headers, rest, ended }: Exchange): Promise<string> {
  const waited = new AbortController();
  await Promise.race([ended, sleep(PROBE.bodyWaitMs, undefined, { signal: waited.signal }).catch(() => {})]);
  waited.abort();
  const signal = AbortSignal.timeout(PROBE.bodyWaitMs);
  try {
    const bounds = { maxBytes: PROBE.bodyBytes * 4, hold: () => {} };
    return (await decodeBody(headers, Buffer.concat(rest), bounds, signal)).toString('utf8');
  } catch {
    return '';
  }
}
