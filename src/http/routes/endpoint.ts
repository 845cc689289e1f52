import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { Partitioner } from '../../credentials/partition.ts';
import type { Caller } from '../../kernel/caller.ts';
import { GatewayError } from '../../kernel/errors.ts';
import type { Logger } from '../../observability/logger.ts';
import type { Load } from '../../snapshots/load.ts';
import type { Answer } from '../answer.ts';
import { cacheWord } from '../cache-headers.ts';
import type { Context } from '../context.ts';
import { forbidsCache } from '../forbids-cache.ts';
import { credentialOf, identify } from '../identify.ts';
import { logBug } from '../log-bug.ts';
import { acceptsJson } from '../negotiate.ts';
import { readBody } from '../read-body.ts';
import { send } from '../send.ts';
import type { Routes } from './router.ts';

/** What an endpoint tells the access log of a request, when it knows it. */
export interface EndpointFacts {
  /** Method of JSON-RPC, of a closed list. */
  readonly rpc?: string;
  readonly resource?: string;
  /** Milliseconds spent waiting for the upstream. */
  readonly upstreamMs?: number;
  readonly load?: Load;
  /** What the answer says went wrong. */
  readonly failure?: GatewayError;
}

/** A request that passed every check, its body read. */
export interface EndpointRequest {
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  readonly caller: Caller;
  /** Aborts when the caller hangs up. */
  readonly signal: AbortSignal;
  /** The caller wants the upstream to be asked (`Cache-Control: no-cache`). */
  readonly noCache: boolean;
  /** Logs what should not have been thrown. */
  readonly logBug: (error: unknown) => void;
  readonly note: (facts: EndpointFacts) => void;
}

/** What answers `POST` with JSON at one path: another edge's business, behind this one's checks. */
export interface Endpoint {
  readonly path: string;
  readonly maxBodyBytes: number;
  /** A `GatewayError` that it throws becomes a problem, as for a read. */
  answer(request: EndpointRequest): Promise<Answer>;
}

export interface EndpointRoutesOptions {
  readonly endpoints: readonly Endpoint[];
  readonly partition: Partitioner;
  readonly logger: Logger;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/** RFC 8259 knows no `charset`; clients send it all the same. */
const JSON_BODY = /^application\/json[\t ]*(?:;[\t ]*(?:charset[\t ]*=[\t ]*"?utf-8"?[\t ]*)?)?$/i;

export function endpointRoutes({ endpoints, partition, logger, now }: EndpointRoutesOptions): Routes {
  const routeOf =
    ({ maxBodyBytes, answer }: Endpoint) =>
    async (ctx: Context): Promise<void> => {
      const { exchange } = ctx.state;
      const { headers } = ctx.req;
      const caller = identify(exchange, credentialOf(ctx.req), partition);
      if (!isPlainJson(headers)) throw new GatewayError('unsupported_media_type');
      if (!acceptsJson(headers)) throw new GatewayError('not_acceptable');
      const body = await readBody(exchange, maxBodyBytes);
      const controller = new AbortController();
      exchange.onGone = () => controller.abort();
      const note = ({ load, failure, ...facts }: EndpointFacts) => {
        Object.assign(exchange, facts);
        if (load !== undefined) exchange.cache = cacheWord(load, now());
        if (failure !== undefined) exchange.failure = failure;
      };
      try {
        const answered = await answer({
          headers,
          body,
          caller,
          signal: controller.signal,
          noCache: forbidsCache(headers['cache-control']),
          logBug: (error) => logBug(logger, exchange, error),
          note,
        });
        exchange.outcome = exchange.failure?.code ?? 'ok';
        send(ctx, answered);
      } finally {
        exchange.onGone = undefined;
      }
    };
  return Object.fromEntries(endpoints.map((endpoint) => [endpoint.path, routeOf(endpoint)]));
}

/** Whether a request is for an endpoint, so that its body is meant to be there. */
export function takesBodyFor(endpoints: readonly Endpoint[]): (req: IncomingMessage) => boolean {
  const paths = new Set(endpoints.map(({ path }) => path));
  return ({ method, url = '' }) => method === 'POST' && paths.has(url.split('?', 1)[0] ?? '');
}

function isPlainJson(headers: IncomingHttpHeaders): boolean {
  const { 'content-type': type = '', 'content-encoding': coding = 'identity' } = headers;
  return JSON_BODY.test(type) && coding.toLowerCase() === 'identity';
}
