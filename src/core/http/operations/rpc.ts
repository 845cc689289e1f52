import type { IncomingHttpHeaders } from 'node:http';
import { GatewayError } from '../../kernel/errors.ts';
import type { HttpRequest } from '../http-request.ts';
import { type HeldBytes, readBody } from '../request/incoming-body.ts';
import { requireJsonAccepted } from '../request/negotiate.ts';
import type { HttpResponse } from '../response/http-response.ts';
import type { Operation } from './operation.ts';

export const MCP_PATH = '/mcp';

/** Answers one message. A `GatewayError` that it throws is answered with a problem. */
export type HandleMessage = (
  request: HttpRequest,
  headers: IncomingHttpHeaders,
  body: Buffer,
) => HttpResponse | Promise<HttpResponse>;

export interface RpcOptions {
  readonly path: string;
  readonly maxBodyBytes: number;
  readonly heldBytes: HeldBytes;
  /** Whether a credential may be missing: the handler throws `credential_missing` where one is required. */
  readonly publicLists: boolean;
  /** Header fields that select a response, beside those of MCP. @default none */
  readonly selectingHeaders?: readonly string[] | undefined;
  readonly handle: HandleMessage;
}

/** Header fields that select a response, beside `selectingHeaders`. */
const VARY = ['Authorization', 'Accept', 'Content-Type', 'MCP-Protocol-Version', 'Mcp-Method', 'Mcp-Name'];

/** With any parameters. A `charset` other than UTF-8 is none of JSON's (RFC 8259, section 8.1). */
const JSON_TYPE = /^application\/json[\t ]*(?:;|$)/i;
const OTHER_CHARSET = /;[\t ]*charset[\t ]*=[\t ]*(?!"?utf-8"?[\t ]*(?:;|$))/i;

/**
 * `GET` and `HEAD` at the path of JSON-RPC. They are not allowed, but the credential is checked first: a client whose `POST` was
 * answered with 401 may try the transport of 2024-11-05 next, and shows its user the error of that.
 */
export function rpcStreamOperation({ path, publicLists }: RpcOptions): Operation {
  return {
    path,
    methods: ['GET', 'HEAD'],
    isRefused: true,
    vary: 'Authorization',
    auth: publicLists ? 'optional' : 'required',
    respond() {
      throw new GatewayError('method_not_allowed', { allow: 'POST' });
    },
  };
}

export function rpcOperation(options: RpcOptions): Operation {
  const { path, maxBodyBytes, heldBytes, publicLists, selectingHeaders = [], handle } = options;
  return {
    path,
    methods: ['POST'],
    isRead: true,
    takesBody: true,
    vary: [...VARY, ...selectingHeaders].join(', '),
    auth: publicLists ? 'optional' : 'required',
    async respond(request, caller) {
      const { headers } = request.req;
      requireJsonBody(request);
      requireJsonAccepted(headers);
      const { hold, release } = heldBytes.of(request, caller?.verified === undefined ? request.address : undefined);
      const body = await readBody(request, { maxBytes: maxBodyBytes, bound: 'mcp.maxBodyBytes' }, hold);
      const response = await handle(request, headers, body);
      // A stream does not hold its message.
      if (typeof response.body === 'function') release();
      return response;
    },
  };
}

/** Throws `unsupported_media_type`. Node's table of headers has the first of two types only. */
function requireJsonBody({ req, credentials }: HttpRequest): void {
  const { 'content-type': type = '', 'content-encoding': coding = 'identity' } = req.headers;
  const isJson = JSON_TYPE.test(type) && !OTHER_CHARSET.test(type) && credentials.contentTypes === 1;
  if (!isJson || coding.toLowerCase() !== 'identity') throw new GatewayError('unsupported_media_type');
}
