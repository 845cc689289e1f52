import { randomBytes } from 'node:crypto';
import type { GatewayError } from './errors.ts';
import type { Span } from './trace.ts';

/** A message of a batch. */
export type MemberRecord = Pick<RequestRecord, 'rpc' | 'tool' | 'resource' | 'outcome'>;

/** A client of MCP as it describes itself: short texts without hidden characters. */
export interface ClientRecord {
  readonly name: string | undefined;
  readonly version: string | undefined;
  /** Set where it stated no name. */
  readonly userAgent: string | undefined;
  /** Revision of the protocol, of a closed list. */
  readonly revision: string | undefined;
}

/** Facts about one request, filled in while it is answered. */
export interface RequestRecord {
  /** The edge of the request. */
  readonly edge: 'http' | 'stdio';
  /** Needs no escaping in JSON, like `traceId` and `callerKey`. */
  readonly requestId: string;
  traceId?: string | undefined;
  /** Set when the trace is recorded; for a batch, that of the whole. */
  span?: Span | undefined;
  /** `performance.now()` when the request, or its headers, had arrived. */
  readonly begun: number;
  /** Duration in milliseconds; 0 until it has ended. */
  ms: number;
  /** Milliseconds until the response began that stays open; absent for other responses. */
  openedMs?: number | undefined;
  /** HTTP method. */
  readonly method?: string | undefined;
  /** Pattern of the path, never the path itself. */
  route?: string | undefined;
  /** JSON-RPC method, of a closed list. */
  rpc?: string | undefined;
  /** Name of the called tool, of a closed list. */
  tool?: string | undefined;
  client?: ClientRecord | undefined;
  /** Name of the resource. */
  resource?: string | undefined;
  /** Response status; absent without a response. */
  status?: number | undefined;
  /** `ok`, `not_modified`, the error's code, or the reason for no response. */
  outcome: string;
  /** Bytes of the response body; 0 if not sent completely. */
  bytes: number;
  /** Milliseconds of waiting for the upstream. */
  upstreamMs?: number | undefined;
  /** Outcome of the cache: `hit`, `shared`, `stale`, `miss`, `refreshed`, `collapsed`, `bypass`. */
  cache?: string | undefined;
  /** The caller's key. */
  callerKey?: string | undefined;
  /** Messages of a batch that were processed. */
  members?: MemberRecord[] | undefined;
  /** The error of the request. */
  error?: GatewayError | undefined;
  /** The upstream's error, when a stale snapshot replaced it. */
  staleFor?: GatewayError | undefined;
}

/** The request that work belongs to; for shared work, the one that started it. */
export interface RequestRef {
  readonly requestId: string;
  readonly traceId?: string | undefined;
}

const GOOD: ReadonlySet<string> = new Set(['ok', 'not_modified']);

/** Returns `error_type` of an HTTP request for metrics and traces. By OpenTelemetry's conventions a 4xx has none. */
export function errorTypeOf({ outcome, error, status = 500 }: RequestRecord): string | undefined {
  if (GOOD.has(outcome)) return undefined;
  const isAnswered = outcome === error?.code;
  return isAnswered && status < 500 ? undefined : outcome;
}

/** Distinguishes processes: of 100,000 that ever ran, two have the same with a chance of 1 in 10^9. */
const PROCESS = randomBytes(8).toString('hex');

let count = 0;

/** Returns a request id that no other request has. */
export function newRequestId(): string {
  count += 1;
  return `${PROCESS}-${count.toString(36)}`;
}
