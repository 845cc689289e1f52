import type { Caller, RequestRecord } from '../kernel/caller.ts';
import type { Load } from '../reads/snapshots/load.ts';
import type { JSONRPCNotification, RequestId } from './message.ts';

/** The caller and context of a request: over HTTP, an `HttpRequest`. */
export interface RequestContext {
  /** `undefined` without a credential: over HTTP, for public lists. */
  readonly caller?: Caller | undefined;
  /** Aborts when no one waits for the response. May be created on access. */
  readonly signal: AbortSignal;
  /** Aborts when responses that stay open must end: at a shutdown, or a reload. */
  readonly ending: AbortSignal;
  /** Sends a message outside of a response, as {@link SendNotification} does. Absent over HTTP. */
  readonly notify?: SendNotification | undefined;
  /** Calls the upstream even if a snapshot is fresh. */
  readonly noCache: boolean;
  /** Stores nothing that is loaded for this request. */
  readonly noStore: boolean;
  /** Filled in during the request, except for its end. */
  readonly record: RequestRecord;
}

/** Returns the context for another caller. */
export function withCaller(context: RequestContext, caller: Caller | undefined): RequestContext {
  const { ending, notify, noCache, noStore, record } = context;
  return {
    ...{ caller, ending, notify, noCache, noStore, record },
    get signal() {
      return context.signal;
    },
  };
}

/** Sends a notification. Resolves when it was handed to the system; may reject when the client is gone. */
export type SendNotification = (notification: JSONRPCNotification) => Promise<void>;

/** Records the outcome, too. */
export type ReadResource = (name: string, context: RequestContext) => Promise<Load>;

/** JSON, sent in order. Short pieces are texts: Node sends those together with the head. */
export type Pieces = readonly (Buffer | string)[];

/** A method's result, as JSON that is mostly shared with other responses. */
export interface Result {
  /** Members of `_meta`. @default none */
  readonly meta?: string;
  /** Members before `jsonTail`, up to their last comma, or to where `jsonTail` begins. */
  readonly jsonHead?: string;
  /** The other members, up to the end of the response: `}}`. */
  readonly jsonTail: Buffer | string;
  /** Whether it is the error of a tool. */
  readonly isError?: boolean;
}

/** Returns a result of these members, and of `_meta`. */
export function resultOf(members: object, meta: object = {}): Result {
  return { meta: JSON.stringify(meta).slice(1, -1), jsonTail: `${JSON.stringify(members).slice(1)}}` };
}

/** Sends notifications before its result. Rejects with a `GatewayError`, or when the client is gone. */
export interface StreamResult {
  stream(send: SendNotification): Promise<Result>;
}

/** Answers one method, of unchecked parameters. Rejects with a `GatewayError`. A stream is for revision 2026-07-28. */
export type MethodHandler = (
  params: Readonly<Record<string, unknown>>,
  context: RequestContext,
  id: RequestId,
) => Promise<Result | StreamResult>;
