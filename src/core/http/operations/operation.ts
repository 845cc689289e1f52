import type { Caller } from '../../kernel/caller.ts';
import { GatewayError } from '../../kernel/errors.ts';
import type { HttpRequest } from '../http-request.ts';
import { requireJsonAccepted } from '../request/negotiate.ts';
import { hasBody } from '../request/request-head.ts';
import type { HttpResponse } from '../response/http-response.ts';

/** Request headers that a page may set (Fetch, section 2.2.2). */
const ALLOWED = [
  ...['Accept', 'Authorization', 'Cache-Control', 'Content-Type', 'If-None-Match', 'Last-Event-ID'],
  ...['Mcp-Method', 'Mcp-Name', 'MCP-Protocol-Version', 'Mcp-Session-Id', 'traceparent', 'tracestate', 'X-Request-Id'],
];

/** How long a browser caches a preflight; Chromium does for two hours at most. */
const MAX_AGE_SECONDS = 7200;

export interface Operation {
  readonly path: string;
  /** Empty for an unknown path or a wrong method. */
  readonly methods: readonly string[];
  /** Whether a credential is read. Optional: if it is sent. */
  readonly auth: 'none' | 'optional' | 'required';
  /** 405, after the check of the credential. @default allowed */
  readonly isRefused?: true;
  /** @default a request with a body is refused */
  readonly takesBody?: true;
  /** Whether it reads items. @default false */
  readonly isRead?: true;
  /** Allowed with any `Host`. @default false */
  readonly isProbe?: boolean;
  /** A page for browsers. Other clients get 404. @default false */
  readonly isPage?: true;
  /** Value of `Vary`, on errors too. @default none */
  readonly vary?: string;
  /** Pages of all origins may read its responses. @default only those of allowed origins */
  readonly forAnyPage?: boolean;
  /**
   * Throws, or rejects with, a `GatewayError`: `credential_missing` where an optional one is needed after all. `caller` is defined
   * where `auth` is `required`.
   */
  respond(request: HttpRequest, caller?: Caller): HttpResponse | Promise<HttpResponse>;
}

/** Answers a path that does not exist. */
export const UNKNOWN_PATH: Operation = {
  path: 'unmatched',
  methods: [],
  auth: 'none',
  respond() {
    throw new GatewayError('not_found');
  },
};

/** Answers a method that none of these operations of one path has: 405, or the response to a preflight. */
export function otherMethod(atPath: readonly Operation[], credentialHeaders: Iterable<string> = []): Operation {
  const { path, isProbe = false, vary, forAnyPage = false } = atPath[0] ?? UNKNOWN_PATH;
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
export function openOperation(path: string, respond: Operation['respond'], more?: Partial<Operation>): Operation {
  return { path, methods: ['GET', 'HEAD'], auth: 'none', respond, ...more };
}

/** A response that must not be stored. `type`: its media type. @default JSON */
export function unstored(body: string | Buffer, type = 'application/json; charset=utf-8'): HttpResponse {
  return { status: 200, headers: { 'Content-Type': type, 'Cache-Control': 'no-store' }, body: Buffer.from(body) };
}

/** Serves a constant JSON document without a credential. `forAnyPage`: a page of any origin, too. */
export function publishedOperation(path: string, document: object, { forAnyPage = false } = {}): Operation {
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
