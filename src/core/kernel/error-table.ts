export interface ErrorRow {
  readonly status: number;
  /** RFC 9457 `title`, equal for every occurrence. */
  readonly title: string;
  /** RFC 9457 `detail` unless the error has its own. Safe for any caller. */
  readonly detail: string;
  /** Reason in the log unless the error has its own. @default the title */
  readonly reason?: string;
  /** Default seconds of `Retry-After`. */
  readonly retryAfterSeconds?: number;
  /** Code of the JSON-RPC error, if the error can answer a JSON-RPC request. 401 and 403 are outside JSON-RPC's reserved range. */
  readonly rpc?: number;
}

const PARSE_ERROR = -32700;
export const INVALID_REQUEST = -32600;
const METHOD_NOT_FOUND = -32601;
const INVALID_PARAMS = -32602;
const INTERNAL_ERROR = -32603;
const HEADER_MISMATCH = -32020;
const UNSUPPORTED_PROTOCOL_VERSION = -32022;

/** Remedy for people and for models, which can repeat a call but cannot change the token. */
export const ASK_FOR_TOKEN = 'Do not retry with the same one: ask the user for a new one.';

/** For people and models: no error names its reason, which may have text of a platform. */
const SEE_LOG = "Portico's operator finds the reason in the log by the requestId.";

/** Every error that Portico returns. Edges never create a status. `docs/reference.md` is generated from it. */
export const ERRORS = {
  credential_missing: {
    status: 401,
    rpc: 401,
    title: 'Credential missing',
    detail: 'Send the header Authorization: Bearer <access token>.',
  },
  credential_malformed: {
    status: 401,
    rpc: 401,
    title: 'Credential malformed',
    detail: 'The Authorization header must be Bearer, a space and one token of visible ASCII characters.',
  },
  credential_rejected: {
    status: 401,
    rpc: 401,
    title: 'Credential rejected',
    detail: `The platform rejected the access token that Portico received. ${ASK_FOR_TOKEN}`,
  },
  access_denied: {
    status: 403,
    rpc: 403,
    title: 'Access denied',
    detail: 'The platform does not allow this caller to read this resource.',
  },
  origin_refused: {
    status: 403,
    title: 'Origin refused',
    detail: 'Requests from this web origin are not allowed.',
    reason: 'the Origin is not in allowedOrigins',
  },
  upstream_credential_rejected: {
    status: 502,
    rpc: INTERNAL_ERROR,
    title: 'Upstream refused Portico',
    detail: 'The platform rejected the credential of the deployment. The operator of Portico has to correct this.',
  },
  uri_missing: {
    status: 400,
    rpc: INVALID_PARAMS,
    title: 'Parameter uri missing',
    detail: 'Name the resource to read in the query parameter uri.',
  },
  resource_unknown: {
    status: 404,
    rpc: INVALID_PARAMS,
    title: 'Resource unknown',
    detail: 'There is no resource with this uri.',
  },
  invalid_params: {
    status: 400,
    rpc: INVALID_PARAMS,
    title: 'Invalid parameters',
    detail: 'The parameters are invalid for this method.',
  },
  list_changed: {
    status: 409,
    rpc: INVALID_PARAMS,
    title: 'List changed',
    detail: 'The list has changed since this cursor was issued: start again without a cursor.',
  },
  result_too_large: {
    status: 413,
    rpc: INVALID_PARAMS,
    title: 'Result too large',
    detail: 'The result exceeds the bound of a tool result. Request fewer items or fields.',
  },
  invalid_request: {
    status: 400,
    rpc: INVALID_REQUEST,
    title: 'Invalid request',
    detail: 'The request is not well-formed HTTP.',
  },
  parse_error: {
    status: 400,
    rpc: PARSE_ERROR,
    title: 'Parse error',
    detail: 'The message is not JSON in UTF-8.',
  },
  invalid_rpc: {
    status: 400,
    rpc: INVALID_REQUEST,
    title: 'Invalid JSON-RPC',
    detail: 'This is not a JSON-RPC 2.0 message that this server answers.',
  },
  header_mismatch: {
    status: 400,
    rpc: HEADER_MISMATCH,
    title: 'Header mismatch',
    detail: 'The MCP headers are missing or differ from the body.',
  },
  version_unsupported: {
    status: 400,
    rpc: UNSUPPORTED_PROTOCOL_VERSION,
    title: 'Protocol version unsupported',
    detail: 'This revision of MCP is not supported.',
  },
  not_found: {
    status: 404,
    rpc: METHOD_NOT_FOUND,
    title: 'Not found',
    detail:
      'There is no such path. Lists are at /mcp/v1/resources and /mcp/v1/resources/read, and MCP, where it is on, at /mcp.',
  },
  method_not_allowed: {
    status: 405,
    title: 'Method not allowed',
    detail: 'This path answers only the methods named in Allow.',
  },
  not_acceptable: {
    status: 406,
    title: 'Not acceptable',
    detail: 'The response is application/json; Accept must allow that.',
  },
  request_timeout: {
    status: 408,
    title: 'Request too slow',
    detail: 'The request did not arrive in time.',
    reason: 'the request did not arrive within http.headersTimeoutMs or http.requestTimeoutMs',
  },
  too_large: {
    status: 413,
    rpc: INVALID_REQUEST,
    title: 'Body too large',
    detail: 'The message exceeds the bound of this server.',
  },
  uri_too_long: {
    status: 414,
    title: 'Request target too long',
    detail: 'The request target exceeds the bound of this server.',
  },
  unsupported_media_type: {
    status: 415,
    title: 'Media type unsupported',
    detail: 'Send the body as Content-Type: application/json, in UTF-8 and without a Content-Encoding.',
  },
  host_refused: {
    status: 421,
    title: 'Host refused',
    detail: 'This server does not serve the host of the request.',
    reason: 'the Host is not in allowedHosts',
  },
  headers_too_large: {
    status: 431,
    title: 'Headers too large',
    detail: 'The request headers exceed the bound of this server.',
  },
  rate_limited: {
    status: 429,
    rpc: INTERNAL_ERROR,
    title: 'Rate limit',
    detail: 'Too many requests. Try again after Retry-After.',
    retryAfterSeconds: 1,
  },
  upstream_rate_limited: {
    status: 429,
    rpc: INTERNAL_ERROR,
    title: 'Platform rate limit',
    detail: 'The platform limits the rate of requests. Try again after Retry-After.',
    retryAfterSeconds: 1,
  },
  upstream_refused: {
    status: 502,
    rpc: INTERNAL_ERROR,
    title: 'Platform refused the request',
    detail: `The platform refused the request. Trying again will not help. ${SEE_LOG}`,
  },
  upstream_failed: {
    status: 502,
    rpc: INTERNAL_ERROR,
    title: 'Platform failed',
    detail: 'The platform did not answer this read. Trying again may help.',
  },
  upstream_invalid: {
    status: 502,
    rpc: INTERNAL_ERROR,
    title: 'Platform answer unusable',
    detail: `The platform answered, but no complete list can be built from its reply. ${SEE_LOG}`,
  },
  upstream_timeout: {
    status: 504,
    rpc: INTERNAL_ERROR,
    title: 'Platform too slow',
    detail: 'The platform did not send the list in time. Trying again may help.',
  },
  breaker_open: {
    status: 503,
    rpc: INTERNAL_ERROR,
    title: 'Platform not called',
    detail: 'The platform failed repeatedly and is not called for a while. Try again after Retry-After.',
    retryAfterSeconds: 1,
  },
  overloaded: {
    status: 503,
    rpc: INTERNAL_ERROR,
    title: 'Overloaded',
    detail: 'Too many requests to the platform are waiting already. Try again after Retry-After.',
    retryAfterSeconds: 1,
  },
  verifier_unavailable: {
    status: 503,
    rpc: INTERNAL_ERROR,
    title: 'Access token not verified',
    detail: 'This access token could not be verified just now. It may be valid: try again after Retry-After.',
    retryAfterSeconds: 1,
  },
  draining: {
    status: 503,
    rpc: INTERNAL_ERROR,
    title: 'Shutting down',
    detail: 'This instance is shutting down. Try again.',
    retryAfterSeconds: 1,
  },
  transfer_coding_unsupported: {
    status: 501,
    title: 'Transfer coding unsupported',
    detail: 'Send the body with Transfer-Encoding: chunked and no other coding, or with Content-Length.',
  },
  internal: {
    status: 500,
    rpc: INTERNAL_ERROR,
    title: 'Internal error',
    detail: 'Portico has an internal error. The log has it under the requestId.',
  },
} as const satisfies Record<string, ErrorRow>;

/** A code of the error table. Part of the contract. */
export type ErrorCode = keyof typeof ERRORS;
