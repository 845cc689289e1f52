import type { IncomingMessage } from 'node:http';
import type { RequestRecord } from '../kernel/caller.ts';
import type { Trace } from '../kernel/trace.ts';
import type { Fields, Target } from './request/request-head.ts';

/** One HTTP request, as hooks and operations see it. */
export interface HttpRequest {
  /** What is logged, counted and traced. */
  readonly record: RequestRecord;
  /** Its headers have `[credential]` in place of credentials. */
  readonly req: IncomingMessage;
  readonly fields: Fields;
  /** `undefined` for a form that is not answered. */
  readonly target: Target | undefined;
  /** The trace that the client has sent. */
  readonly trace: Trace | undefined;
  /** Client address, for limits that callers of one address share. Set once the request was admitted. */
  readonly address: string;
  /** Aborts when the client has gone. Created on access. */
  readonly signal: AbortSignal;
  /** Headers of the response, also where that is an error. */
  readonly responseHeaders: Record<string, string>;
}
