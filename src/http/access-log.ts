import { causesOf } from '../observability/causes.ts';
import type { Logger } from '../observability/logger.ts';
import type { Exchange } from './exchange.ts';
import { PROBE_PATHS } from './routes/probes.ts';

/** Enough to tell partitions apart, too little to be anybody's key. */
const PARTITION_LENGTH = 12;

/** What one line says. There is no place in it for a URL, a header value or a body. */
export interface AccessLine {
  readonly method?: string | undefined;
  readonly route: string;
  /** Method of JSON-RPC, of a closed list. */
  readonly rpc?: string | undefined;
  readonly resource?: string | undefined;
  /** Absent where no answer was begun. */
  readonly status?: number | undefined;
  readonly outcome: string;
  readonly ms?: number;
  readonly upstreamMs?: number | undefined;
  /** What the cache had to do with the read. */
  readonly cache?: string | undefined;
  readonly bytes: number;
  readonly partition?: string | undefined;
  readonly requestId: string;
  readonly traceId?: string | undefined;
  readonly upstream?: string | undefined;
  readonly reason?: string | undefined;
  readonly causes?: readonly string[] | undefined;
}

/** Writes one line: at info, but for probes, which come every few seconds as long as the process lives. */
export function logAccess(logger: Logger, line: AccessLine): void {
  if (PROBE_PATHS.has(line.route)) logger.debug(line, 'request');
  else logger.info(line, 'request');
}

/** The line of an exchange that has ended, answered or not. */
export function accessLine(exchange: Exchange): AccessLine {
  const { req, res, route, rpc, resource, outcome, bytes, upstreamMs, cache, partition, requestId, trace, failure } =
    exchange;
  return {
    method: req.method,
    route,
    rpc,
    resource,
    status: res.headersSent ? res.statusCode : undefined,
    outcome,
    ms: rounded(performance.now() - exchange.begun),
    upstreamMs: upstreamMs === undefined ? undefined : rounded(upstreamMs),
    cache,
    bytes,
    partition: partition?.slice(0, PARTITION_LENGTH),
    requestId,
    traceId: trace?.traceId,
    upstream: failure?.upstream,
    reason: failure?.reason,
    causes: failure?.cause === undefined ? undefined : causesOf(failure),
  };
}

/** To a tenth of a millisecond. */
function rounded(ms: number): number {
  return Math.round(ms * 10) / 10;
}
