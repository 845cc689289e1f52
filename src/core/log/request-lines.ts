import { causesOf } from '../kernel/causes.ts';
import type { GatewayError } from '../kernel/errors.ts';
import type { RequestRecord } from '../kernel/request-record.ts';
import type { Level, Logger } from './logger.ts';

/** Enough to tell callers apart, too little to be anybody's key. */
const CALLER_LENGTH = 12;
/** Kinds of requests whose fields are kept as text. */
const MAX_KINDS = 16;

/** Requests that are alike but for who asked, when, and how long it took. */
interface Kind {
  readonly fields: ReturnType<typeof kindOf>;
  /** Those fields, as a line has them. */
  readonly text: string;
}

/**
 * Gives a function that writes the line of a request. A logger that takes text gets it put together here: nearly all
 * requests are of a few kinds, and what those of a kind have in common is made into text once.
 */
export function createRequestLines(): (to: Logger, level: Level, request: RequestRecord) => void {
  const kinds: Kind[] = [];
  let oldest = 0;

  function textOfKind(request: RequestRecord): string {
    for (const kind of kinds) if (isOf(kind, request)) return kind.text;
    const fields = kindOf(request);
    const text = textOf(fields);
    kinds[oldest] = { fields, text };
    oldest = (oldest + 1) % MAX_KINDS;
    return text;
  }

  return (to, level, request) => {
    if (to.writeText === undefined) to[level]({ ...kindOf(request), ...ownOf(request) }, 'request');
    else to.writeText(level, `${textOfKind(request)},${textOfOwn(request)}`, 'request');
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

/** What `ownOf` gives, as a line has it. Where nothing went wrong that is put together by hand: it is done for each hit. */
function textOfOwn(request: RequestRecord): string {
  const { ms, upstreamMs, bytes, callerKey, requestId, traceId, error, staleFor } = request;
  if (error !== undefined || staleFor !== undefined) return textOf(ownOf(request));
  let text = `"ms":${rounded(ms)}`;
  if (upstreamMs !== undefined) text += `,"upstreamMs":${rounded(upstreamMs)}`;
  text += `,"bytes":${bytes}`;
  if (callerKey !== undefined) text += `,"caller":"${callerKey.slice(0, CALLER_LENGTH)}"`;
  text += `,"requestId":"${requestId}"`;
  return traceId === undefined ? text : `${text},"traceId":"${traceId}"`;
}

/** The inside of a JSON object that has a field at least. */
function textOf(fields: object): string {
  return JSON.stringify(fields).slice(1, -1);
}

function ownOf(request: RequestRecord): object {
  const { upstreamMs, staleFor, error = staleFor } = request;
  const own = {
    ms: rounded(request.ms),
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
