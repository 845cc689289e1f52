import { type JSONRPCMessage, ProtocolError } from '@modelcontextprotocol/server';
import { ERRORS, type ErrorCode, GatewayError } from '../kernel/errors.ts';
import type { Ask } from './ask.ts';
import type { Era } from './era.ts';
import type { Params } from './handlers.ts';

/** What the SDK's own errors are called in the error table. */
const CODES: Readonly<Record<number, ErrorCode>> = {
  [ERRORS.parse_error.rpc]: 'parse_error',
  [ERRORS.invalid_rpc.rpc]: 'invalid_rpc',
  [ERRORS.not_found.rpc]: 'not_found',
  [ERRORS.invalid_params.rpc]: 'invalid_params',
  [ERRORS.header_mismatch.rpc]: 'header_mismatch',
  [ERRORS.version_unsupported.rpc]: 'version_unsupported',
};

/** What the revisions before 2026-07-28 call an unknown resource. The SDK would not send it. */
const RESOURCE_NOT_FOUND = -32002;

/** The error that tells a client of a failure: words of the error table, and nothing else that it carries. */
export function rpcErrorOf({ code, rpc, detail, upstream, retryAfterSeconds }: GatewayError, requestId: string) {
  return { code: rpc, message: detail, data: { code, requestId, upstream, retryAfterSeconds } };
}

/**
 * The same, to be thrown at the SDK, which sends message and data as they are. `params` are those of the request: an
 * unknown resource is called by its URI again (2026-07-28, server/resources, Error Handling).
 */
export function protocolErrorOf(failure: GatewayError, requestId: string, params: Params = {}): ProtocolError {
  const { code, message, data } = rpcErrorOf(failure, requestId);
  return new ProtocolError(code, message, failure.code === 'resource_unknown' ? { ...data, uri: params['uri'] } : data);
}

/**
 * A message as it is sent. An error that the SDK made by itself is given the `code` and `requestId` that all others
 * have: what it says of the client's own request is kept, and what it says of a fault in here is not.
 */
export function finished(message: JSONRPCMessage, era: Era, { caller, note, logBug }: Ask): JSONRPCMessage {
  if (!('error' in message)) return message;
  const { error } = message;
  const ours: unknown = Object(error.data).code;
  if (typeof ours === 'string' && Object.hasOwn(ERRORS, ours)) {
    if (ours !== 'resource_unknown' || era === 'modern') return message;
    return { ...message, error: { ...error, code: RESOURCE_NOT_FOUND } };
  }
  const word = CODES[error.code];
  // What has lines is a list of what a schema found.
  const facts = error.message.includes('\n') ? {} : { detail: error.message };
  const failure = word === undefined ? new GatewayError('internal') : new GatewayError(word, facts);
  if (word === undefined) logBug(failure);
  note({ failure });
  const { data, ...row } = rpcErrorOf(failure, caller.requestId);
  return { ...message, error: { ...row, data: word === undefined ? data : { ...Object(error.data), ...data } } };
}
