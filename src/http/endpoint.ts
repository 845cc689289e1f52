import type { IncomingHttpHeaders } from 'node:http';
import type { Caller } from '../kernel/caller.ts';
import type { GatewayError } from '../kernel/errors.ts';
import type { Load } from '../snapshots/load.ts';
import type { Answer } from './answer.ts';

/** Whose body may be in several pieces, to be sent one after the other. */
export interface EndpointAnswer extends Omit<Answer, 'body'> {
  readonly body: Buffer | readonly Buffer[];
}

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
  answer(request: EndpointRequest): Promise<EndpointAnswer>;
}
