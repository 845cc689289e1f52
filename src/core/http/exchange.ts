import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { traceOfCaller } from '../credentials/caller-trace.ts';
import { mentionsCredential } from '../credentials/redact.ts';
import type { GatewayError } from '../kernel/errors.ts';
import type { MemberRecord, RequestRecord } from '../kernel/request-record.ts';
import type { Span } from '../kernel/span.ts';
import type { Trace } from '../kernel/trace.ts';
import type { Users } from '../kernel/users.ts';
import {
  announcesBody,
  credentialsIn,
  type Fields,
  parseTarget,
  readFields,
  type Target,
} from './request/request-head.ts';
import { forbidsCache } from './response/caching.ts';

/** Needs no escaping in a header, a log line, JSON, or the `urn:` of a problem's `instance`. */
const WELL_FORMED_ID = /^[A-Za-z0-9._~:/+=@-]{1,128}$/;

/**
 * One request and its response, and what is known of them. A class, unlike most here: one is made for each request, and
 * only a prototype makes `signal` cost nothing where nobody looks at it.
 */
export class Exchange implements RequestRecord {
  readonly edge = 'http';
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  readonly fields: Fields;
  /** The request target as it came: Koa puts another one on `req`. */
  readonly url: string;
  /** `undefined` where it is none that can be answered. */
  readonly target: Target | undefined;
  readonly hasBody: boolean;
  readonly begun: number;
  ms = 0;
  readonly requestId: string;
  readonly trace: Trace | undefined;
  span: Span | undefined = undefined;
  readonly method: string | undefined;
  /** Whether the caller wants the upstream to be asked. */
  readonly noCache: boolean;
  /** What its response says of web origins, names and values by turns. */
  originHeaders: readonly string[] | undefined = undefined;
  /** `Vary` of its response, but for origins. */
  vary: string | undefined = undefined;
  /** Whether what it asks for takes a body. */
  takesBody = false;
  /** Whether the connection has closed, so that no response can be sent. */
  gone = false;
  /** Whether the listener was draining when the request arrived. */
  cameWhileDraining = false;
  route: string | undefined = undefined;
  rpc: string | undefined = undefined;
  tool: string | undefined = undefined;
  resource: string | undefined = undefined;
  status: number | undefined = undefined;
  outcome = 'internal';
  bytes = 0;
  upstreamMs: number | undefined = undefined;
  /** `performance.now()` when it began to wait for the upstream. */
  waitingSince: number | undefined = undefined;
  cache: string | undefined = undefined;
  /** What names its client; empty until that is looked for. */
  address = '';
  callerKey: string | undefined = undefined;
  members: MemberRecord[] | undefined = undefined;
  /** Header fields of the response that tell the caller of its rate limit. Names and values by turns. */
  rateLimit: readonly string[] | undefined = undefined;
  error: GatewayError | undefined = undefined;
  staleFor: GatewayError | undefined = undefined;
  /** Why no more of its body will come, although it is not whole: it does not parse, or comes too slowly. */
  bodyError: GatewayError | undefined = undefined;
  /** What to do then, while the body is being read. */
  onBodyError: ((error: GatewayError) => void) | undefined = undefined;
  /** Bytes of its body that are held. */
  heldBytes = 0;
  /** Count it as long as it has not ended. */
  users: Pick<Users, 'enter' | 'leave'> | undefined = undefined;
  /** Gives back what it holds; called once it has ended. */
  release: (() => void) | undefined = undefined;
  #controller: AbortController | undefined = undefined;

  /** Opens an exchange. `otherCredentials`: headers that hold some, in lower case. A request or trace id that repeats the credential is not taken: both are logged. */
  constructor(req: IncomingMessage, res: ServerResponse, otherCredentials?: ReadonlySet<string>) {
    this.begun = performance.now();
    this.req = req;
    this.res = res;
    this.method = req.method;
    this.url = req.url ?? '';
    this.target = parseTarget(this.url);
    const fields = readFields(req.rawHeaders, otherCredentials);
    this.fields = fields;
    // Node has made its own table of them by now.
    if (fields.authorization.length > 0) req.headers.authorization = String(fields.authorization[0]);
    for (const [name, [credential]] of fields.others ?? []) req.headers[name] = String(credential);
    this.hasBody = announcesBody(fields);
    this.noCache = forbidsCache(fields.cacheControl);
    this.requestId = chooseRequestId(fields);
    this.trace = fields.traceparent === undefined ? undefined : traceOfCaller(fields, credentialsIn(fields));
  }

  get traceId(): string | undefined {
    return (this.span ?? this.trace)?.traceId;
  }

  /** Aborts when the caller is gone. */
  get signal(): AbortSignal {
    this.#controller ??= new AbortController();
    if (this.gone) this.#controller.abort();
    return this.#controller.signal;
  }

  /** Gives up what is still missing of the body. */
  failBody(error: GatewayError): void {
    this.bodyError = error;
    this.onBodyError?.(error);
  }

  /** Takes the time that was spent waiting for the upstream. */
  endWaiting(): void {
    if (this.waitingSince !== undefined) this.upstreamMs = performance.now() - this.waitingSince;
    this.waitingSince = undefined;
  }

  /** Ends all that is under way for a caller who is gone. */
  abandon(): void {
    this.gone = true;
    this.endWaiting();
    this.#controller?.abort();
  }
}

function chooseRequestId(fields: Fields): string {
  const { requestId } = fields;
  if (requestId === undefined || !WELL_FORMED_ID.test(requestId)) return randomUUID();
  return mentionsCredential(requestId, credentialsIn(fields)) ? randomUUID() : requestId;
}
