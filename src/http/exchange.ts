import type { IncomingMessage, ServerResponse } from 'node:http';
import { mentionsCredential } from '../credentials/mention.ts';
import type { GatewayError } from '../kernel/errors.ts';
import { continueTrace, type Trace } from '../observability/trace.ts';
import { chooseRequestId } from './request-id.ts';

/** One request and its answer, and what the access log will say of them. */
export interface Exchange {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  /** `performance.now()` when the headers had arrived. */
  readonly begun: number;
  readonly requestId: string;
  readonly trace: Trace | undefined;
  /** Pattern of the route, never the path itself. */
  route: string;
  /** How it ended: `ok`, `not_modified`, or the code of the error. */
  outcome: string;
  /** Bytes of the answer's body; 0 where that was not sent whole. */
  bytes: number;
  /** Methods that its route takes, as `Allow` has them; set where they do not include its own. */
  allow?: string;
  /** The method of JSON-RPC that was asked for, of a closed list. */
  rpc?: string;
  /** Name of the resource that was read. */
  resource?: string;
  /** Milliseconds spent waiting for the upstream. */
  upstreamMs?: number;
  /** What the cache had to do with the read. */
  cache?: string;
  partition?: string;
  failure?: GatewayError;
  /** What to do when the body that is being read does not parse, or comes too slowly. */
  onBodyError?: ((error: GatewayError) => void) | undefined;
  /** What to do when the caller is gone. */
  onGone?: (() => void) | undefined;
  /** Whether there is nobody left to answer. */
  gone: boolean;
}

/** What a request says of itself; `undefined` for a header that did not come, or more than once. */
export interface Introduction {
  readonly requestId?: string | undefined;
  readonly traceparent?: string | undefined;
  readonly tracestate?: string | undefined;
}

/**
 * Begins to keep account of a request that brought these `Authorization` headers. A request or trace id that repeats
 * the credential is not taken: both are logged.
 */
export function openExchange(
  req: IncomingMessage,
  res: ServerResponse,
  authorization: readonly string[],
  { requestId, traceparent, tracestate }: Introduction,
): Exchange {
  const traced = traceparent !== undefined && !mentionsCredential(traceparent, authorization);
  return {
    req,
    res,
    begun: performance.now(),
    requestId: chooseRequestId(requestId, authorization),
    trace: traced ? continueTrace(traceparent, tracestate) : undefined,
    route: 'unmatched',
    outcome: 'internal',
    bytes: 0,
    gone: false,
  };
}
