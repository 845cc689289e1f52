import type { Caller } from '../../kernel/caller.ts';
import { GatewayError } from '../../kernel/errors.ts';
import type { Exchange } from '../exchange.ts';
import type { HttpResponse } from '../response/send.ts';

/** Fields of a request that a page may set, beside those that it always may (Fetch, section 2.2.2). */
const ALLOWED = [
  ...['Accept', 'Authorization', 'Cache-Control', 'Content-Type', 'If-None-Match', 'Last-Event-ID'],
  ...['Mcp-Method', 'Mcp-Name', 'MCP-Protocol-Version', 'Mcp-Session-Id', 'traceparent', 'tracestate', 'X-Request-Id'],
];

/** How long a browser caches a preflight. Chromium's maximum is two hours. */
const MAX_AGE_SECONDS = 7200;

interface Asked {
  /** Where it is asked for: strict and case-sensitive. Names it in the log. */
  readonly path: string;
  /** Targets, beside the bare path, that clients send most. */
  readonly targets?: readonly string[];
  /** Methods of HTTP that ask for it; none where a request asks for nothing that there is. */
  readonly methods: readonly string[];
  /** Whether its methods are not allowed: 405, after the check of the credential. @default allowed */
  readonly isRefused?: true;
  /** Whether its request may have a body. */
  readonly takesBody: boolean;
  /** Whether it may read items. @default false */
  readonly isRead?: true;
  /** Whether orchestrators call it: with any `Host`, and also during a drain. */
  readonly isProbe: boolean;
  /** Header fields of a request by which its response is chosen, on errors too: the value of `Vary`. @default none */
  readonly vary?: string;
  /** Whether pages of all origins may read what it responds. @default those of origins that settings list */
  readonly forAnyPage?: boolean;
  /** Response to a caller over its rate limit. @default as for any other error */
  refuseRate?(error: GatewayError, requestId: string): HttpResponse | Promise<HttpResponse>;
}

/** A public operation. */
export interface OpenOperation extends Asked {
  readonly open: true;
  /** Whether it is a page for browsers; other clients get 404 for its path. */
  readonly isPage?: true;
  /** Throws, or rejects with, a `GatewayError` for what is wrong. */
  respond(exchange: Exchange): HttpResponse | Promise<HttpResponse>;
}

/** What needs to know who asks. */
export interface CallerOperation extends Asked {
  readonly open: false;
  /** Throws, or rejects with, a `GatewayError` for what is wrong. */
  respond(exchange: Exchange, caller: Caller): HttpResponse | Promise<HttpResponse>;
}

/** Partly public: a credential, if sent, is checked. */
export interface PartlyOpenOperation extends Asked {
  readonly open: 'partly';
  /** `caller` is `undefined` where no credential came: throws, or rejects with, `credential_missing` for the other part. */
  respond(exchange: Exchange, caller: Caller | undefined): HttpResponse | Promise<HttpResponse>;
}

/** What a request can ask for. */
export type Operation = OpenOperation | PartlyOpenOperation | CallerOperation;

/** What a request asks for whose path nothing lives at. */
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

/**
 * The same, where these are what there is: it names the paths of those that need a caller. Most who come here are clients
 * that were given half of an address.
 */
export function unknownPath(operations: readonly Operation[]): OpenOperation {
  const paths = operations.filter(({ open }) => open !== true).map(({ path }) => path);
  if (paths.length === 0) return UNKNOWN_PATH;
  const detail = `There is no such path. Paths are: ${[...new Set(paths)].join(', ')}.`;
  return {
    ...UNKNOWN_PATH,
    respond() {
      throw new GatewayError('not_found', { detail });
    },
  };
}

/**
 * What a request asks for with a method that none of the operations takes which live at its path, `asked`: nothing, or what
 * a page may ask for there.
 */
export function otherMethod(asked: readonly Operation[], otherCredentials?: ReadonlySet<string>): OpenOperation {
  const { path, isProbe, forAnyPage = false } = asked[0] ?? UNKNOWN_PATH;
  const taken = [...new Set(asked.flatMap(({ methods, isRefused }) => (isRefused ? [] : methods)))].sort();
  return {
    path,
    methods: [],
    takesBody: false,
    isProbe,
    forAnyPage,
    open: true,
    respond(exchange) {
      if (!isProbe && isPreflight(exchange)) return preflightResponse(taken, otherCredentials);
      throw new GatewayError('method_not_allowed', { allow: taken.join(', ') });
    },
  };
}

/** Whether a browser asks what a page may send (Fetch, section 4.8). */
function isPreflight({ req, fields, hasBody }: Exchange): boolean {
  const asks = req.method === 'OPTIONS' && req.headers['access-control-request-method'] !== undefined;
  return asks && fields.origin !== undefined && !hasBody;
}

/** Answers a preflight. `credentials`: names of further headers in which a page may send credentials. */
function preflightResponse(methods: readonly string[], credentials: Iterable<string> = []): HttpResponse {
  const headers = ['Access-Control-Allow-Methods', methods.join(', '), 'Access-Control-Allow-Headers'];
  headers.push([...ALLOWED, ...credentials].join(', '));
  headers.push('Access-Control-Max-Age', String(MAX_AGE_SECONDS), 'Cache-Control', 'no-store');
  return { status: 204, headers, body: undefined };
}
