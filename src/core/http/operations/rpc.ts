import type { Caller } from '../../kernel/caller.ts';
import { GatewayError } from '../../kernel/errors.ts';
import type { Exchange } from '../exchange.ts';
import { type HeldBytes, NO_BODY, readBody } from '../request/incoming-body.ts';
import { type Fields, requireJsonAccepted } from '../request/request-head.ts';
import type { HttpResponse } from '../response/send.ts';
import type { CallerOperation, PartlyOpenOperation } from './operation.ts';

export const MCP_PATH = '/mcp';

/**
 * A class: V8 would make a shape for each object literal with a getter, and keep all that the object refers to until it collects
 * the old generation.
 */
export class RpcRequest {
  readonly record: Exchange;
  readonly headers: Readonly<Record<'protocolVersion' | 'method' | 'name' | 'userAgent', string | undefined>>;
  body: Buffer;
  readonly caller: Caller | undefined;
  readonly noCache: boolean;

  constructor(exchange: Exchange, body: Buffer, caller: Caller | undefined) {
    const { mcpProtocolVersion: protocolVersion, mcpMethod: method, mcpName: name, userAgent } = exchange.fields;
    this.record = exchange;
    this.headers = { protocolVersion, method, name, userAgent };
    this.body = body;
    this.caller = caller;
    this.noCache = exchange.noCache;
  }

  get signal(): AbortSignal {
    return this.record.signal;
  }

  get ending(): AbortSignal {
    return this.record.ending;
  }
}

/** A `GatewayError` that it throws is answered with a problem. */
export type RpcHandler = (request: RpcRequest) => HttpResponse | Promise<HttpResponse>;

export interface RpcOptions {
  readonly path: string;
  readonly maxBodyBytes: number;
  readonly heldBytes: HeldBytes;
  /** Whether a credential may be missing: the handler throws `credential_missing` where one is required. */
  readonly publicLists: boolean;
  readonly otherCredentials?: readonly string[] | undefined;
  /** Returns always the same. Called with the first messages. */
  readonly open: () => Promise<RpcHandler>;
  /** Whether every upstream rejects the credential of the caller with this key. @default false */
  readonly isRejected?: ((callerKey: string) => boolean) | undefined;
  /** Returns the JSON-RPC error for a caller over its rate limit, whose message has not been read. */
  readonly refuseRate: NonNullable<CallerOperation['refuseRate']>;
}

/** Header fields that select a response, beside those of `otherCredentials`. */
const VARY = ['Authorization', 'Accept', 'Content-Type', 'MCP-Protocol-Version', 'Mcp-Method', 'Mcp-Name'];

const JSON_TYPE = 'application/json';
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
      if (caller !== undefined && isRejected(caller.credentialKey)) throw new GatewayError('credential_rejected');
      throw new GatewayError('method_not_allowed', { allow: 'POST' });
    },
  };
}

export function rpcOperation(options: RpcOptions): CallerOperation | PartlyOpenOperation {
  const { path, maxBodyBytes, heldBytes, publicLists, otherCredentials = [], open, refuseRate } = options;
  let handle: RpcHandler | undefined;
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
      const request = new RpcRequest(exchange, body, caller);
      handle ??= await open();
      const response = await handle(request);
      // A stream holds its request as long as it is open.
      request.body = NO_BODY;
      return response;
    },
  };
}

function requireJsonBody({ contentType = '', contentEncoding }: Fields): void {
  const isJson = contentType === JSON_TYPE || JSON_BODY.test(contentType);
  if (isJson && (contentEncoding === undefined || contentEncoding.toLowerCase() === 'identity')) return;
  throw new GatewayError('unsupported_media_type');
}
