import {
  isInitializeRequest,
  isJSONRPCErrorResponse,
  isJSONRPCNotification,
  isJSONRPCRequest,
  isJSONRPCResultResponse,
  type JSONRPCMessage,
  type JSONRPCRequest,
} from '@modelcontextprotocol/server';
import { GatewayError } from '../kernel/errors.ts';

/** A message that came by itself. Throws `invalid_rpc` for what is none, and what {@link checkInitialize} throws. */
export function checkedMessage(message: unknown): JSONRPCMessage {
  if (Array.isArray(message)) {
    throw new GatewayError('invalid_rpc', { detail: 'Batches are not taken here: send one message at a time.' });
  }
  if (isJSONRPCRequest(message)) {
    checkInitialize(message);
    return message;
  }
  if (isJSONRPCNotification(message) || isJSONRPCResultResponse(message) || isJSONRPCErrorResponse(message)) {
    return message;
  }
  throw new GatewayError('invalid_rpc');
}

/** Throws `invalid_params` for the one request whose parameters the SDK checks by itself, and blames on itself. */
export function checkInitialize(request: JSONRPCRequest): void {
  if (request.method !== 'initialize' || isInitializeRequest(request)) return;
  throw new GatewayError('invalid_params', {
    detail: 'initialize takes protocolVersion, capabilities and clientInfo.',
  });
}
