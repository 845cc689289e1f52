import type { IncomingMessage, ServerResponse } from 'node:http';
// The global of this name is a getter, which takes as long as the call.
import { performance } from 'node:perf_hooks';
import { mentionsCredential, traceOfCaller } from '../credentials/redact.ts';
import { type Caller, newRequestId, type RequestRecord } from '../kernel/caller.ts';
import type { Trace } from '../kernel/trace.ts';
import { networkOf } from './request/client-address.ts';
import {
  type Credentials,
  cacheDirectives,
  parseTarget,
  type Target,
  takeCredentials,
} from './request/request-head.ts';
import type { HttpResponse } from './response/http-response.ts';

/** Needs no escaping in a header, a log line, JSON, or the `urn:` of a problem's `instance`. */
const WELL_FORMED_ID = /^[A-Za-z0-9._~:/+=@-]{1,128}$/;

/** Returns the headers of every response. */
export function headersFor(requestId: string): Record<string, string> {
  return { 'X-Content-Type-Options': 'nosniff', 'X-Request-Id': requestId };
}

/** The parts of a service that each request uses. */
export interface RequestService {
  /** Headers beside `Authorization` that hold credentials, in lower case. */
  readonly credentialHeaders: ReadonlySet<string>;
  /** Aborts when responses that stay open must end: at a shutdown or a reload. */
  readonly ending: AbortSignal;
  /** Time in which a client takes each piece of a stream. */
  readonly sendTimeoutMs: number;
}

/** One HTTP request: `ctx.state.portico`, and what hooks and operations receive. A class, because `signal` is rarely read. */
export class HttpRequest<Service extends RequestService = RequestService> {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  /** The service that answers it: a reload concerns the requests that follow. */
  readonly service: Service;
  /** Facts that are logged, counted and traced. */
  readonly record: RequestRecord;
  /** Taken from the headers of `req`, which have `[credential]` in their place. */
  readonly credentials: Credentials;
  /** `undefined` for a form that is not answered. */
  readonly target: Target | undefined;
  /** The trace that the client has sent. */
  readonly trace: Trace | undefined = undefined;
  /** `Cache-Control: no-cache` of the request. */
  readonly noCache: boolean;
  /** `Cache-Control: no-store` of the request. */
  readonly noStore: boolean;
  /** Headers of the response, also where that is an error. */
  readonly responseHeaders: Record<string, string>;
  /** IP address of the client, or `unix`. Set once the request was admitted. */
  clientAddress = '';
  /** Set once the credential was read. */
  caller: Caller | undefined = undefined;
  /** Whether its operation takes a body. Set once path and method have matched. */
  takesBody = false;
  /** Set by its operation. */
  response: HttpResponse | undefined = undefined;
  #controller: AbortController | undefined = undefined;
  #isDisconnected = false;

  /** Request and trace ids are logged: one that repeats a credential is ignored. */
  constructor({ req, res }: { readonly req: IncomingMessage; readonly res: ServerResponse }, service: Service) {
    const startedAt = performance.now();
    this.req = req;
    this.res = res;
    this.service = service;
    this.target = parseTarget(req.url ?? '');
    this.credentials = takeCredentials(req, service.credentialHeaders);
    const { all } = this.credentials;
    const { traceparent, tracestate } = req.headers;
    if (traceparent !== undefined) {
      this.trace = traceOfCaller({ traceparent: String(traceparent), tracestate: tracestate?.toString() }, all);
    }
    const { noCache, noStore } = cacheDirectives(req.headers['cache-control']);
    this.noCache = noCache;
    this.noStore = noStore;
    const sentId = req.headers['x-request-id'];
    const isKept = typeof sentId === 'string' && WELL_FORMED_ID.test(sentId) && !mentionsCredential(sentId, all);
    const requestId = isKept ? sentId : newRequestId();
    this.record = {
      edge: 'http',
      requestId,
      traceId: this.trace?.traceId,
      startedAt,
      ms: 0,
      method: req.method,
      outcome: 'internal',
      bytes: 0,
    };
    this.responseHeaders = headersFor(requestId);
  }

  get ending(): AbortSignal {
    return this.service.ending;
  }

  /** The host that the client names. */
  get host(): string | undefined {
    return this.target?.authority ?? this.req.headers.host;
  }

  /** Network of the client, for limits that callers of one address share. */
  get address(): string {
    return networkOf(this.clientAddress);
  }

  /** Whether TLS ends in this process. */
  get isSecure(): boolean {
    return 'encrypted' in this.req.socket;
  }

  /** Aborts when the client has gone. */
  get signal(): AbortSignal {
    this.#controller ??= new AbortController();
    if (this.#isDisconnected) this.#controller.abort();
    return this.#controller.signal;
  }

  /** Whether the connection has closed, so that no response can be sent. */
  get isDisconnected(): boolean {
    return this.#isDisconnected;
  }

  markDisconnected(): void {
    this.#isDisconnected = true;
    this.#controller?.abort();
  }
}
