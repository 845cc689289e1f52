import type { Caller } from '../../kernel/caller.ts';
import { GatewayError } from '../../kernel/errors.ts';
import type { RequestRecord } from '../../kernel/request-record.ts';
import type { Exchange } from '../exchange.ts';
import type { RequestHooks } from '../handler.ts';
import type { HeldBytes } from '../request/incoming-body.ts';
import { NO_BODY, readBody } from '../request/incoming-body.ts';
import { requireJsonAccepted } from '../request/negotiate.ts';
import type { Fields } from '../request/request-head.ts';
import type { HttpResponse } from '../response/send.ts';
import type { CallerOperation, PartlyOpenOperation } from './operation.ts';

/** Path of MCP over HTTP. */
export const MCP_PATH = '/mcp';

/** A posted message whose HTTP part has been checked. */
export interface RpcRequest {
  /** `MCP-Protocol-Version`, `Mcp-Method`, `Mcp-Name` and `User-Agent`. */
  readonly headers: {
    readonly protocolVersion: string | undefined;
    readonly method: string | undefined;
    readonly name: string | undefined;
    readonly userAgent: string | undefined;
  };
  readonly body: Buffer;
  /** `undefined` without a credential, where lists are public. */
  readonly caller: Caller | undefined;
  /** Aborts when the caller disconnects. */
  readonly signal: AbortSignal;
  /** Aborts when a stream must end. */
  readonly ending: AbortSignal;
  /** Calls the upstream even if a snapshot is fresh. */
  readonly noCache: boolean;
  /** Counts so many messages beside the first. Rejects with `rate_limited` beyond the caller's limit. */
  readonly countMore: (messages: number) => Promise<void> | void;
  /** Record of the request, to be completed. */
  readonly record: RequestRecord;
}

/** Answers a posted message. A `GatewayError` that it throws is answered with a problem. */
export type RpcHandler = (request: RpcRequest) => HttpResponse | Promise<HttpResponse>;

export interface RpcOptions {
  readonly path: string;
  readonly maxBodyBytes: number;
  /** Bodies of all requests in flight. */
  readonly heldBytes: HeldBytes;
  /** Whether a credential may be missing: `handle` throws `credential_missing` where one is required. */
  readonly publicLists: boolean;
  readonly spend: RequestHooks['spend'];
  /** Names of the headers beside `Authorization` in which callers bring credentials. @default none */
  readonly otherCredentials?: readonly string[] | undefined;
  readonly handle: RpcHandler;
  /** Whether every upstream rejects the credential of the caller with this key. @default false */
  readonly isRejected?: ((callerKey: string) => boolean) | undefined;
  /** Returns the JSON-RPC error for a caller over its rate limit, whose message has not been read. */
  readonly refuseRate: NonNullable<CallerOperation['refuseRate']>;
}

/** Header fields that select a response, beside those of `otherCredentials`. */
const VARY = ['Authorization', 'Accept', 'Content-Type', 'MCP-Protocol-Version', 'Mcp-Method', 'Mcp-Name'];

/** RFC 8259 defines no `charset`, but clients send it. */
const JSON_BODY = /^application\/json[\t ]*(?:;[\t ]*(?:charset[\t ]*=[\t ]*"?utf-8"?[\t ]*)?)?$/i;

/**
 * `GET` and `HEAD` at the path of JSON-RPC. They are not allowed, but the credential is checked first: a client whose `POST` was
 * answered with 401 may try the transport of 2024-11-05 next, and shows its user the error of that.
 */
export function rpcStreamOperation({
  path,
  publicLists,
  isRejected = () => false,
}: RpcOptions): CallerOperation | PartlyOpenOperation {
  return {
    path,
    methods: ['GET', 'HEAD'],
    isRefused: true,
    takesBody: false,
    isProbe: false,
    vary: 'Authorization',
    open: publicLists ? 'partly' : false,
    respond(_exchange: Exchange, caller: Caller | undefined) {
      if (caller !== undefined && isRejected(caller.key)) throw new GatewayError('credential_rejected');
      throw new GatewayError('method_not_allowed', { allow: 'POST' });
    },
  };
}

/** JSON-RPC, posted at one path. */
export function rpcOperation(options: RpcOptions): CallerOperation | PartlyOpenOperation {
  const { path, maxBodyBytes, heldBytes, publicLists, spend, otherCredentials = [], handle, refuseRate } = options;
  return {
    path,
    methods: ['POST'],
    isRead: true,
    takesBody: true,
    isProbe: false,
    vary: [...VARY, ...otherCredentials].join(', '),
    open: publicLists ? 'partly' : false,
    refuseRate,
    async respond(exchange: Exchange, caller: Caller | undefined) {
      const { fields } = exchange;
      requireJsonBody(fields);
      requireJsonAccepted(fields);
      const body = await readBody(exchange, { maxBytes: maxBodyBytes, bound: 'mcp.maxBodyBytes' }, heldBytes);
      const countMore = (messages: number) => spend(exchange, caller, messages);
      const posted = new Posted(exchange, body, caller, countMore);
      const response = await handle(posted);
      // A stream holds its request as long as it is open.
      posted.body = NO_BODY;
      return response;
    },
  };
}

/**
 * A class, since a getter in an object literal costs too much for each request: V8 makes a shape for each such object, and keeps
 * all that the object refers to until it collects the old generation.
 */
class Posted implements RpcRequest {
  readonly record: Exchange;
  readonly headers: RpcRequest['headers'];
  body: Buffer;
  readonly caller: Caller | undefined;
  readonly noCache: boolean;
  readonly countMore: RpcRequest['countMore'];

  constructor(exchange: Exchange, body: Buffer, caller: Caller | undefined, countMore: RpcRequest['countMore']) {
    const { fields, noCache } = exchange;
    this.record = exchange;
    const { mcpProtocolVersion: protocolVersion, mcpMethod: method, mcpName: name, userAgent } = fields;
    this.headers = { protocolVersion, method, name, userAgent };
    this.body = body;
    this.caller = caller;
    this.noCache = noCache;
    this.countMore = countMore;
  }

  get signal(): AbortSignal {
    return this.record.signal;
  }

  get ending(): AbortSignal {
    return this.record.ending;
  }
}

/** Throws `unsupported_media_type` for a body that is not announced as JSON, or is in a coding. */
function requireJsonBody({ contentType = '', contentEncoding = 'identity' }: Fields): void {
  if (JSON_BODY.test(contentType) && contentEncoding.toLowerCase() === 'identity') return;
  throw new GatewayError('unsupported_media_type');
}
