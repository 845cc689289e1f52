import {
  type InboundLegacyRoute,
  isJSONRPCRequest,
  type JSONRPCRequest,
  SUPPORTED_PROTOCOL_VERSIONS,
} from '@modelcontextprotocol/server';
import { GatewayError } from '../kernel/errors.ts';
import { checkInitialize } from './checked-message.ts';

/** Later revisions have no batches. */
const LAST_WITH_BATCHES = '2025-03-26';

/** Requests of one batch: each may be a read. */
const MAX_BATCH = 100;

/**
 * The requests in a body of the older era, whose form has been checked. Notifications and answers are left out: nothing
 * outlives its own HTTP request here, so there is nothing that they could be about.
 *
 * Throws what the revision named in `MCP-Protocol-Version` does not allow. A client that names none, as 2025-03-26 has
 * it, is taken by its word for that revision.
 */
export function legacyRequests(
  message: unknown,
  { reason }: InboundLegacyRoute,
  version = LAST_WITH_BATCHES,
): JSONRPCRequest[] {
  if (reason !== 'initialize' && !SUPPORTED_PROTOCOL_VERSIONS.includes(version)) {
    const detail = `This revision is not spoken here. There are: ${SUPPORTED_PROTOCOL_VERSIONS.join(', ')}.`;
    throw new GatewayError('version_unsupported', { detail });
  }
  const messages: unknown[] = Array.isArray(message) ? message : [message];
  if (reason === 'batch') checkBatch(messages, version);
  const requests = messages.filter((one) => isJSONRPCRequest(one));
  requests.forEach(checkInitialize);
  return requests;
}

function checkBatch(messages: readonly unknown[], version: string): void {
  const refuse = (detail: string) => {
    throw new GatewayError('invalid_rpc', { detail });
  };
  if (version > LAST_WITH_BATCHES) refuse(`Revision ${version} has no batches: send one message at a time.`);
  if (messages.length > MAX_BATCH) refuse(`A batch may hold ${MAX_BATCH} messages.`);
  if (messages.some((one) => Object(one).method === 'initialize')) refuse('initialize must not be part of a batch.');
}
