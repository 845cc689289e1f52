import type { Caller } from '../../kernel/caller.ts';
import { GatewayError } from '../../kernel/errors.ts';
import type { HttpRequest } from '../http-request.ts';
import { requireJsonAccepted } from '../request/negotiate.ts';
import { hasBody } from '../request/request-head.ts';
import type { HttpResponse } from '../response/send.ts';

/** Request headers that a page may set (Fetch, section 2.2.2). */
const ALLOWED = [
  ...['Accept', 'Authorization', 'Cache-Control', 'Content-Type', 'If-None-Match', 'Last-Event-ID'],
  ...['Mcp-Method', 'Mcp-Name', 'MCP-Protocol-Version', 'Mcp-Session-Id', 'traceparent', 'tracestate', 'X-Request-Id'],
];

/** How long a browser caches a preflight; Chromium does for two hours at most. */
const MAX_AGE_SECONDS = 7200;

interface Endpoint {
  readonly path: string;
  /** Empty for an unknown path or a wrong method. */
  readonly methods: readonly string[];
  /** 405, after the check of the credential. @default allowed */
  readonly isRefused?: true;
  readonly takesBody: boolean;
  /** Whether it reads items. @default false */
  readonly isRead?: true;
  /** Allowed with any `Host`. */
  readonly isProbe: boolean;
  /** Value of `Vary`, on errors too. @default none */
  readonly vary?: string;
  /** Pages of all origins may read its responses. @default only those of allowed origins */
  readonly forAnyPage?: boolean;
}

/** A public operation. */
export interface OpenOperation extends Endpoint {
  readonly open: true;
  /** A page for browsers. Other clients get 404. */
  readonly isPage?: true;
  /** Throws, or rejects with, a `GatewayError`. */
  respond(request: HttpRequest): HttpResponse | Promise<HttpResponse>;
}

/** An operation that requires a credential. */
export interface CallerOperation extends Endpoint {
  readonly open: false;
  respond(request: HttpRequest, caller: Caller): HttpResponse | Promise<HttpResponse>;
}

/** A partly public operation: a credential is checked if it is sent. */
export interface PartlyOpenOperation extends Endpoint {
  readonly open: 'partly';
  /** Gets `undefined` without a credential. Throws, or rejects with, `credential_missing` where one is required. */
  respond(request: HttpRequest, caller: Caller | undefined): HttpResponse | Promise<HttpResponse>;
}

export type Operation = OpenOperation | PartlyOpenOperation | CallerOperation;

/** Answers a path that does not exist. */
export const UNKNOWN_PATH: OpenOperation = {
  path: 'unmatched',
  methods: [],
  takesBody: false,
  isProbe: false,
  open: true,
  respond() {
    throw new GatewayError('not_found');
  },
};

/** Answers a method that none of these operations of one path has: 405, or the response to a preflight. */
export function otherMethod(atPath: readonly Operation[], credentialHeaders: Iterable<string> = []): OpenOperation {
  const { path, isProbe, vary, forAnyPage = false } = atPath[0] ?? UNKNOWN_PATH;
  const allowed = [...new Set(atPath.flatMap(({ methods, isRefused }) => (isRefused ? [] : methods)))].sort();
  return {
    ...UNKNOWN_PATH,
    path,
    isProbe,
    forAnyPage,
    ...(vary !== undefined && { vary }),
    respond(request) {
      if (!isProbe && isPreflight(request)) return preflightResponse(allowed, credentialHeaders);
      throw new GatewayError('method_not_allowed', { allow: allowed.join(', ') });
    },
  };
}

/** Fetch, section 4.8. */
function isPreflight({ req }: HttpRequest): boolean {
  const { origin, 'access-control-request-method': method } = req.headers;
  return req.method === 'OPTIONS' && origin !== undefined && method !== undefined && !hasBody(req);
}

/** Answers a preflight. `credentials`: headers in which a page may send credentials. */
function preflightResponse(methods: readonly string[], credentials: Iterable<string>): HttpResponse {
  return {
    status: 204,
    headers: {
      'Access-Control-Allow-Methods': methods.join(', '),
      'Access-Control-Allow-Headers': [...ALLOWED, ...credentials].join(', '),
      'Access-Control-Max-Age': String(MAX_AGE_SECONDS),
      'Cache-Control': 'no-store',
    },
    body: undefined,
  };
}

/** Serves a path without a credential, by GET and HEAD unless `more` names other methods. */
export function openOperation(
  path: string,
  respond: OpenOperation['respond'],
  more?: Partial<OpenOperation>,
): OpenOperation {
  return { path, methods: ['GET', 'HEAD'], takesBody: false, isProbe: false, open: true, respond, ...more };
}

/** A response that must not be stored. `type`: its media type. @default JSON */
export function unstored(body: string | Buffer, type = 'application/json; charset=utf-8'): HttpResponse {
  return { status: 200, headers: { 'Content-Type': type, 'Cache-Control': 'no-store' }, body: Buffer.from(body) };
}

/** Serves a constant JSON document without a credential. `forAnyPage`: a page of any origin, too. */
export function publishedOperation(path: string, document: object, { forAnyPage = false } = {}): OpenOperation {
  const response: HttpResponse = {
    status: 200,
    headers: { 'Cache-Control': 'no-cache', 'Content-Type': 'application/json' },
    body: Buffer.from(JSON.stringify(document)),
  };
  const respond = ({ req }: HttpRequest) => {
    requireJsonAccepted(req.headers);
    return response;
  };
  return openOperation(path, respond, { forAnyPage, vary: 'Accept' });
}
