import type { GatewayError } from './errors.ts';
import type { Span } from './span.ts';

/** One request of a batch. */
export type MemberRecord = Pick<RequestRecord, 'rpc' | 'tool' | 'resource' | 'outcome'>;

/** What is known of one request, filled in while it is answered. */
export interface RequestRecord {
  /** Which edge it came over. */
  readonly edge: 'http' | 'stdio';
  /** Needs no escaping in JSON, no more than `traceId` and `callerKey` do. */
  readonly requestId: string;
  traceId?: string | undefined;
  /** Where its trace is sampled; of a batch, that of the whole. */
  span?: Span | undefined;
  /** `performance.now()` when it had arrived, or its headers had. */
  readonly begun: number;
  /** Milliseconds from then until it had ended; 0 before. */
  ms: number;
  /** Method of HTTP. */
  readonly method?: string | undefined;
  /** Pattern of the path that it was for, never the path itself. */
  route?: string | undefined;
  /** Method of JSON-RPC, of a closed list. */
  rpc?: string | undefined;
  /** Name of the tool that was called, of a closed list. */
  tool?: string | undefined;
  /** Name of the resource that was read. */
  resource?: string | undefined;
  /** Status of the response; absent where none was begun. */
  status?: number | undefined;
  /** How it ended: `ok`, `not_modified`, the code of the error, or why nobody was answered. */
  outcome: string;
  /** Bytes of the response's body; 0 where that was not sent whole. */
  bytes: number;
  /** Milliseconds spent waiting for the upstream. */
  upstreamMs?: number | undefined;
  /** What the snapshot cache had to do with the read: `hit`, `shared`, `stale`, `miss`, `refreshed`, `collapsed`, `bypass`. */
  cache?: string | undefined;
  /** Key of the caller. */
  callerKey?: string | undefined;
  /** Of a batch, those that were worked on. */
  members?: MemberRecord[] | undefined;
  /** What went wrong. */
  error?: GatewayError | undefined;
  /** The upstream's error, where a stale snapshot was served in its place. */
  staleFor?: GatewayError | undefined;
}

/** Which request something was done for; where several wait for it, the one that began it. */
export interface RequestRef {
  readonly requestId: string;
  readonly traceId?: string | undefined;
}
