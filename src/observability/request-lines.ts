import type { GatewayError } from '../kernel/errors.ts';
import { causesOf } from './causes.ts';
import type { Level, Logger } from './logger.ts';
import type { RequestRecord } from './request-record.ts';

/** Enough to tell callers apart, too little to be anybody's key. */
const CALLER_LENGTH = 12;
/** Kinds of requests whose fields are kept as text. */
const MAX_KINDS = 16;

/** Requests that are alike but for who asked, when, and how long it took. */
interface Kind {
  readonly fields: ReturnType<typeof kindOf>;
  /** Has those fields in each of its lines. */
  readonly logger: Logger;
}

/**
 * Gives a function that writes the line of a request to a logger. Nearly all requests are of a few kinds, and what those of a kind
 * have in common is made into text once, where `usual` is that logger: a fifth of what a line costs.
 */
export function createRequestLines(usual: Logger): (to: Logger, level: Level, request: RequestRecord) => void {
  const kinds: Kind[] = [];
  let oldest = 0;

  function usualFor(request: RequestRecord): Logger | undefined {
    for (const kind of kinds) if (isOf(kind, request)) return kind.logger;
    const fields = kindOf(request);
    // Whoever calls has found that the line is written: so this one writes all.
    const logger = usual.child?.(fields, { level: 'debug' });
    if (logger === undefined) return undefined;
    kinds[oldest] = { fields, logger };
    oldest = (oldest + 1) % MAX_KINDS;
    return logger;
  }

  return (to, level, request) => {
    const logger = to === usual ? usualFor(request) : undefined;
    if (logger === undefined) to[level]({ ...kindOf(request), ...ownOf(request) }, 'request');
    else logger[level](ownOf(request), 'request');
  };
}

function kindOf({ method, route, rpc, tool, resource, status, outcome, cache, staleFor }: RequestRecord) {
  return { method, route, rpc, tool, resource, status, outcome, cache, staleFor: staleFor?.code };
}

/** All of these are texts of closed lists: where they are the same, they are the same object nearly always. */
function isOf({ fields }: Kind, request: RequestRecord): boolean {
  return (
    fields.resource === request.resource &&
    fields.cache === request.cache &&
    fields.outcome === request.outcome &&
    fields.status === request.status &&
    fields.route === request.route &&
    fields.method === request.method &&
    fields.rpc === request.rpc &&
    fields.tool === request.tool &&
    fields.staleFor === request.staleFor?.code
  );
}

function ownOf(request: RequestRecord): object {
  const { upstreamMs, staleFor, error = staleFor } = request;
  const own = {
    ms: rounded(performance.now() - request.begun),
    upstreamMs: upstreamMs === undefined ? undefined : rounded(upstreamMs),
    bytes: request.bytes,
    caller: request.callerKey?.slice(0, CALLER_LENGTH),
    requestId: request.requestId,
    traceId: request.traceId,
  };
  return error === undefined ? own : { ...own, ...whyOf(error) };
}

/** What is known of an error, without a message: that may be an upstream's. */
export function whyOf(error: GatewayError) {
  const { upstream, reason, cause } = error;
  return { upstream, reason, causes: cause === undefined ? undefined : causesOf(error) };
}

/** To a tenth of a millisecond. */
export function rounded(ms: number): number {
  return Math.round(ms * 10) / 10;
}
