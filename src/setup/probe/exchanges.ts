import { decodeBody } from '../../core/upstream/client/body.ts';
import type { Tap, TappedRequest } from '../../core/upstream/client/tap.ts';
import type { ReplyHeaders } from '../../core/upstream/upstream.ts';

/** One request of a read, and what came of it. */
export interface Exchange {
  readonly request: TappedRequest;
  /** Of the response; 0 where there was none. */
  readonly status: number;
  readonly headers: ReplyHeaders;
  /** Milliseconds from the request to the whole body of a page, else to the head of the response. */
  readonly ms: number;
  /** Of the first page, decoded. */
  readonly page?: Buffer;
  /** The beginning of what came in place of a page. */
  readonly rest: readonly Buffer[];
  /** Resolves once no more of that comes. */
  readonly ended: Promise<void>;
}

/** The exchanges of one read, as far as they matter. */
export interface Exchanges {
  readonly tap: Tap;
  /** How many brought a page. */
  readonly pages: number;
  /** The bodies of the pages, as far as they are kept. */
  readonly bodies: readonly Buffer[];
  /** The first one, answered or not. */
  readonly first: Exchange | undefined;
  /** The one that brought the first page. */
  readonly firstPage: Exchange | undefined;
  /** The one that was answered last. */
  readonly last: Exchange | undefined;
}

/** Bodies of pages that are kept, all together. */
const MAX_KEPT_BYTES = 16_777_216;
const MAX_REST_BYTES = 16_384;

/** `onPage` is told how many pages came. */
export function recordExchanges(onPage: (pages: number) => void): Exchanges {
  const seen: { pages: number } & { -readonly [Key in 'first' | 'firstPage' | 'last']: Exchanges[Key] } = {
    pages: 0,
    first: undefined,
    firstPage: undefined,
    last: undefined,
  };
  const bodies: Buffer[] = [];
  let keptBytes = 0;
  const tap: Tap = (request) => {
    const begun = performance.now();
    const { promise: ended, resolve: end } = Promise.withResolvers<void>();
    const rest: Buffer[] = [];
    let bytes = 0;
    const exchange = { request, status: 0, headers: {} as ReplyHeaders, ms: 0, rest, ended };
    seen.first ??= exchange;
    return {
      answered(status, headers) {
        seen.last = Object.assign(exchange, { status, headers, ms: performance.now() - begun });
      },
      read(body) {
        end();
        seen.pages += 1;
        keptBytes += body.length;
        if (keptBytes <= MAX_KEPT_BYTES) bodies.push(Buffer.from(body));
        exchange.ms = performance.now() - begun;
        seen.firstPage ??= Object.assign(exchange, { page: body });
        onPage(seen.pages);
      },
      rest(chunk) {
        if (chunk === undefined) end();
        else if (bytes < MAX_REST_BYTES) rest.push(Buffer.from(chunk));
        bytes += chunk?.length ?? 0;
      },
    };
  };
  return Object.assign(seen, { tap, bodies });
}

const PATIENCE_MS = 1000;

/**
 * What an exchange brought in place of a page, or its beginning; waits for it a moment. Empty where nothing came, or its coding
 * cannot be undone.
 */
export async function restOf({ headers, rest, ended }: Exchange): Promise<string> {
  await atMost(PATIENCE_MS, ended);
  const options = { maxBytes: MAX_REST_BYTES * 4, hold: () => {}, signal: AbortSignal.timeout(PATIENCE_MS) };
  try {
    return (await decodeBody(headers, Buffer.concat(rest), options)).toString('utf8');
  } catch {
    return '';
  }
}

/** Waits for that long at most; meanwhile the process goes on, even if nothing else keeps it. */
function atMost(ms: number, ended: Promise<void>): Promise<void> {
  const { promise: late, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, ms);
  return Promise.race([ended, late]).finally(() => clearTimeout(timer));
}
