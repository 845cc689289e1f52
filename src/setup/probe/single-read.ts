import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { openFor } from '../../composition.ts';
import type { Config } from '../../core/config/schema/settings.ts';
import { createCore } from '../../core/core.ts';
import type { Identity } from '../../core/credentials/authenticate.ts';
import { GatewayError } from '../../core/kernel/errors.ts';
import type { Events } from '../../core/kernel/events.ts';
import { withoutVerification } from '../../core/local-caller.ts';
import type { LogDestination } from '../../core/log/destination.ts';
import { createLogger } from '../../core/log/logger.ts';
import type { Load } from '../../core/reads/snapshots/load.ts';
import { decodeBody } from '../../core/upstream/client/body.ts';
import type { ReplyHeaders, Tap, TappedRequest } from '../../core/upstream/upstream.ts';
import { PROBE } from '../input-bounds.ts';

export interface Exchange {
  readonly request: TappedRequest;
  /** Whether it is for the list, and not for its parents. */
  readonly isOfList: boolean;
  /** 0 if there was no response. */
  status: number;
  headers: ReplyHeaders;
  /** Milliseconds from the request to the end of a page, or to the headers of another response. */
  ms: number;
  /** Decoded, of a page. */
  bytes: number;
  page?: Buffer;
  readonly rest: Buffer[];
  readonly ended: Promise<void>;
}

export interface SingleRead {
  readonly outcome: Load | GatewayError;
  readonly sent: readonly Exchange[];
  readonly answered: readonly Exchange[];
  readonly pages: number;
}

export interface SingleReadOptions {
  readonly config: Config;
  readonly resource: string;
  readonly identity: Identity;
  readonly onRequest: (request: TappedRequest) => void;
  /** Of the list and of its parents, the first pages are kept. @default all are of the list */
  readonly isOfList?: (request: TappedRequest) => boolean;
  readonly events?: Events;
}

const NOWHERE: LogDestination = { write() {}, flushSync() {}, droppedLines: () => 0 };
const SILENT = createLogger({ level: 'silent', destination: NOWHERE });

/** Reads a resource once with a core of its own, and calls `use` while the connections are open. */
export async function readOnce<T>(options: SingleReadOptions, use: (read: SingleRead) => T | Promise<T>): Promise<T> {
  const { config, resource, identity, events = {} } = options;
  const { tap, ...exchanges } = recordExchanges(options);
  const capabilities = openFor('probe', { config, events, logger: SILENT, destination: NOWHERE });
  const { hooks } = capabilities;
  const core = createCore(withoutVerification(config), { events, hooks, now: Date.now, tap });
  try {
    const caller = { ...identity, requestId: randomUUID() };
    const { signal } = new AbortController();
    const outcome = await settled(async () => core.catalogue.read(resource, caller, { signal }));
    return await use({ outcome, ...exchanges, pages: exchanges.pages() });
  } finally {
    await core.close();
    await capabilities.stop(0);
  }
}

async function settled(read: () => Promise<Load>): Promise<Load | GatewayError> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof GatewayError) return error;
    throw error;
  }
}

function recordExchanges({ onRequest, isOfList = () => true }: Pick<SingleReadOptions, 'onRequest' | 'isOfList'>) {
  const sent: Exchange[] = [];
  const answered: Exchange[] = [];
  let pages = 0;
  const kept = { list: 0, parents: 0 };
  const tap: Tap = (request) => {
    onRequest(request);
    const begun = performance.now();
    const { promise: ended, resolve: end } = Promise.withResolvers<void>();
    let restBytes = 0;
    const exchange: Exchange = {
      request,
      isOfList: isOfList(request),
      status: 0,
      headers: {},
      ms: 0,
      bytes: 0,
      rest: [],
      ended,
    };
    sent.push(exchange);
    return {
      answered(status, headers) {
        answered.push(Object.assign(exchange, { status, headers, ms: performance.now() - begun }));
      },
      read(body) {
        end();
        pages += 1;
        exchange.ms = performance.now() - begun;
        exchange.bytes = body.length;
        const of = exchange.isOfList ? 'list' : 'parents';
        kept[of] += 1;
        if (kept[of] <= PROBE.pages) exchange.page = Buffer.from(body);
      },
      rest(chunk) {
        if (chunk === undefined) return end();
        if (restBytes < PROBE.bodyBytes) exchange.rest.push(Buffer.from(chunk));
        restBytes += chunk.length;
      },
    };
  };
  return { tap, sent, answered, pages: () => pages };
}

/** Returns the beginning of a body that is not a page. Waits for it briefly. Empty if it cannot be decoded. */
export async function restOf({ headers, rest, ended }: Exchange): Promise<string> {
  const waiting = new AbortController();
  await Promise.race([ended, sleep(PROBE.bodyWaitMs, undefined, { signal: waiting.signal }).catch(() => {})]);
  waiting.abort();
  const signal = AbortSignal.timeout(PROBE.bodyWaitMs);
  try {
    const bounds = { maxBytes: PROBE.bodyBytes * 4, hold: () => {} };
    return (await decodeBody(headers, Buffer.concat(rest), bounds, signal)).toString('utf8');
  } catch {
    return '';
  }
}
