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
  /** Length of a page, decoded. */
  bytes?: number;
  /** Kept of the first pages of the list and of its parents. */
  page?: Buffer;
  /** The beginning of a body that is no page. */
  readonly rest: Buffer[];
  readonly ended: Promise<void>;
}

export interface SingleRead {
  readonly outcome: Load | GatewayError;
  readonly sent: readonly Exchange[];
  readonly answered: readonly Exchange[];
}

export interface SingleReadOptions {
  readonly config: Config;
  readonly resource: string;
  readonly identity: Identity;
  readonly onRequest: (request: TappedRequest) => void;
  /** @default all requests are for the list */
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
    const { signal } = new AbortController();
    const caller = { ...identity, requestId: randomUUID() };
    const read = async () => core.catalogue.read(resource, caller, { signal });
    const outcome = await read().catch((error: unknown) => {
      if (error instanceof GatewayError) return error;
      throw error;
    });
    return await use({ outcome, ...exchanges });
  } finally {
    await core.close();
    await capabilities.stop(0);
  }
}

function recordExchanges({ onRequest, isOfList = () => true }: Pick<SingleReadOptions, 'onRequest' | 'isOfList'>) {
  const sent: Exchange[] = [];
  const answered: Exchange[] = [];
  const kept = { list: 0, parents: 0 };
  const tap: Tap = (request) => {
    onRequest(request);
    const startedAt = performance.now();
    const { promise: ended, resolve: end } = Promise.withResolvers<void>();
    let restBytes = 0;
    const exchange: Exchange = { request, isOfList: isOfList(request), status: 0, headers: {}, ms: 0, rest: [], ended };
    sent.push(exchange);
    return {
      answered(status, headers) {
        answered.push(Object.assign(exchange, { status, headers, ms: performance.now() - startedAt }));
      },
      read(body) {
        end();
        exchange.ms = performance.now() - startedAt;
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
  return { tap, sent, answered };
}

/** Returns the beginning of a body that is not a page. Waits for it briefly. Empty if it cannot be decoded. */
export async function restOf({ headers, rest, ended }: Exchange): Promise<string> {
  const done = new AbortController();
  await Promise.race([ended, sleep(PROBE.bodyWaitMs, undefined, { signal: done.signal }).catch(() => {})]);
  done.abort();
  const bounds = { maxBytes: PROBE.bodyBytes * 4, hold: () => {} };
  try {
    const body = await decodeBody(headers, Buffer.concat(rest), bounds, AbortSignal.timeout(PROBE.bodyWaitMs));
    return body.toString('utf8');
  } catch {
    return '';
  }
}
