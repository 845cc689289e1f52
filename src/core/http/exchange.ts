import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
// The global of this name is a getter, which takes as long as the call.
import { performance } from 'node:perf_hooks';
import { mentionsCredential, traceOfCaller } from '../credentials/redact.ts';
import { type ClientRecord, newRequestId, type RequestRecord } from '../kernel/caller.ts';
import type { GatewayError } from '../kernel/errors.ts';
import type { Users } from '../kernel/tables.ts';
import type { Span, Trace } from '../kernel/trace.ts';
import type { HttpRequest } from './http-request.ts';
import {
  announcedBytes,
  credentialsIn,
  type Fields,
  forbidsCache,
  hasBody,
  parseTarget,
  REDACTED,
  readFields,
  type Target,
} from './request/request-head.ts';

/** Needs no escaping in a header, a log line, JSON, or the `urn:` of a problem's `instance`. */
const WELL_FORMED_ID = /^[A-Za-z0-9._~:/+=@-]{1,128}$/;

const NEVER = new AbortController().signal;

/** Its requests are answered one after the other, whatever the client pipelines. */
export interface PipelinedConnection {
  readonly socket: Socket;
  /** Empty over a Unix socket. */
  readonly remoteAddress: string;
  /** Exchanges that have begun and not ended, in their order. The first one is being answered, the others wait. */
  readonly exchanges: Exchange[];
  /** Whether its last response has been decided on: what still arrives is discarded. */
  ending: boolean;
  /** Bytes received when its newest exchange began, or when the body of that had arrived. More means another request. */
  bytesSeen: number;
  /** Since when `exchanges` is empty, by `performance.now()`. */
  idleSince: number;
  onIdle?: () => void;
  /** Outcome of the exchanges that end with the connection, where this side closes it. */
  abortedFor?: string;
}

/** One request and its response. A class, since only a prototype makes `signal` free where it is not read. */
export class Exchange implements RequestRecord, HttpRequest {
  readonly edge = 'http';
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  readonly fields: Fields;
  /** The request target as it was sent: Koa replaces that of `req`. */
  readonly url: string;
  /** `undefined` for a form that is not answered. */
  readonly target: Target | undefined;
  /** Of its body; 0 where it has none or does not state its length. */
  readonly announcedBytes: number;
  readonly hasBody: boolean;
  readonly begun: number;
  ms = 0;
  openedMs: number | undefined = undefined;
  readonly requestId: string;
  readonly trace: Trace | undefined;
  span: Span | undefined = undefined;
  readonly method: string | undefined;
  readonly noCache: boolean;
  originHeaders: readonly string[] | undefined = undefined;
  /** `Vary` of the response, except `Origin`. */
  vary: string | undefined = undefined;
  /** Aborts when a stream must end. Set before it is answered. */
  ending: AbortSignal = NEVER;
  takesBody = false;
  connection: PipelinedConnection | undefined = undefined;
  /** Called once the exchanges before it on its connection have ended, or the connection has closed. */
  resume: (() => void) | undefined = undefined;
  /** Whether the connection has closed, so that no response can be sent. */
  gone = false;
  arrivedWhileDraining = false;
  route: string | undefined = undefined;
  rpc: string | undefined = undefined;
  tool: string | undefined = undefined;
  client: ClientRecord | undefined = undefined;
  resource: string | undefined = undefined;
  status: number | undefined = undefined;
  outcome = 'internal';
  bytes = 0;
  /** Bytes of its connection that the system had accepted when the response was last checked for progress. */
  acceptedBytes = 0;
  upstreamMs: number | undefined = undefined;
  /** `performance.now()` when the wait for the upstream began. */
  waitingSince: number | undefined = undefined;
  cache: string | undefined = undefined;
  /** Empty until it is determined. */
  address = '';
  callerKey: string | undefined = undefined;
  readonly responseHeaders: Record<string, string> = {};
  error: GatewayError | undefined = undefined;
  staleFor: GatewayError | undefined = undefined;
  /** Why the rest of its body will not be read: it does not parse, or arrives too slowly. */
  bodyError: GatewayError | undefined = undefined;
  onBodyError: ((error: GatewayError) => void) | undefined = undefined;
  /** Whether the whole body was read, although Node has not reported the end of the request. */
  isBodyRead = false;
  heldBytes = 0;
  users: Pick<Users, 'enter' | 'leave'> | undefined = undefined;
  /** Releases what the exchange holds; called once it has ended. */
  release: (() => void) | undefined = undefined;
  #controller: AbortController | undefined = undefined;

  /** Request and trace ids are logged: one that repeats a credential is ignored. `otherCredentials`: headers in lower case. */
  constructor(req: IncomingMessage, res: ServerResponse, otherCredentials?: ReadonlySet<string>) {
    this.begun = performance.now();
    this.req = req;
    this.res = res;
    this.method = req.method;
    this.url = req.url ?? '';
    this.target = parseTarget(this.url);
    const fields = readFields(req.rawHeaders, otherCredentials);
    this.fields = fields;
    // Node has parsed the headers on its own already.
    if (fields.authorization.length > 0) req.headers.authorization = REDACTED;
    for (const [name] of fields.others ?? []) req.headers[name] = REDACTED;
    this.announcedBytes = announcedBytes(fields);
    this.hasBody = hasBody(fields);
    this.noCache = forbidsCache(fields.cacheControl);
    this.requestId = chooseRequestId(fields);
    this.trace = fields.traceparent === undefined ? undefined : traceOfCaller(fields, credentialsIn(fields));
  }

  get record(): RequestRecord {
    return this;
  }

  get traceId(): string | undefined {
    return (this.span ?? this.trace)?.traceId;
  }

  get signal(): AbortSignal {
    this.#controller ??= new AbortController();
    if (this.gone) this.#controller.abort();
    return this.#controller.signal;
  }

  failBody(error: GatewayError): void {
    this.bodyError = error;
    this.onBodyError?.(error);
  }

  endWaiting(): void {
    if (this.waitingSince !== undefined) this.upstreamMs = performance.now() - this.waitingSince;
    this.waitingSince = undefined;
  }

  abandon(): void {
    this.gone = true;
    this.endWaiting();
    this.#controller?.abort();
  }
}

function chooseRequestId(fields: Fields): string {
  const { requestId } = fields;
  if (requestId === undefined || !WELL_FORMED_ID.test(requestId)) return newRequestId();
  return mentionsCredential(requestId, credentialsIn(fields)) ? newRequestId() : requestId;
}
