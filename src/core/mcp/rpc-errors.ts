import { SUPPORTED_PROTOCOL_VERSIONS } from '@modelcontextprotocol/server';
import { redactCredentials } from '../credentials/redact.ts';
import { stackOf } from '../kernel/causes.ts';
import type { ErrorCode } from '../kernel/error-table.ts';
import { GatewayError } from '../kernel/errors.ts';
import type { Events } from '../kernel/events.ts';
import { tellBound } from '../kernel/join-events.ts';
import { idOf } from './message.ts';
import type { RequestContext } from './request-context.ts';
import { CURRENT, claimOf, EARLIER, type Revision } from './revisions.ts';

/** Makes what was thrown a row of the error table, and records it. Whatever a method or a tool comes to passes here. */
export type RecordError = (thrown: unknown, context: RequestContext) => GatewayError;

/** Tells `events` of what should not have been thrown, too. */
export function createRecordError(events: Events): RecordError {
  return (thrown, { caller, record }) => {
    const error = thrown instanceof GatewayError ? thrown : new GatewayError('internal', { cause: thrown });
    record.error = error;
    tellBound(events, error, record);
    if (error.code === 'internal') {
      const stack = redactCredentials(stackOf(thrown), caller ? [caller.credential] : []);
      events.internalError?.({ requestId: record.requestId, traceId: record.traceId, stack });
    }
    return error;
  };
}

/** `WWW-Authenticate` of the HTTP response to an error; `undefined` where it has none. */
export type Challenge = (error: GatewayError) => string | undefined;

/** The challenge that HTTP is to answer a request with, in place of what it came to; `undefined` where it is not. */
export type ChallengeFor = (thrown: unknown, context: RequestContext) => string | undefined;

/**
 * A client takes HTTP 401 and 403 for what its one token comes to, and signs in anew. That helps where it can: where
 * somebody is known who issues tokens (there is a `challenge`), and another token would mend the error. Where nobody is, one
 * of several platforms would log the client out of all. The members of a batch have one status, so that theirs are told like
 * any other error (docs/decisions/0030).
 */
export function createChallengeFor(challenge?: Challenge): ChallengeFor {
  return (thrown, { batchReads }) => {
    if (challenge === undefined || batchReads !== undefined || !(thrown instanceof GatewayError)) return undefined;
    const isOfToken = thrown.code === 'credential_rejected' && thrown.header === undefined;
    const isMended = isOfToken || thrown.scopes !== undefined;
    return isMended ? challenge(thrown) : undefined;
  };
}

/** Characters of a text that came from outside which an error repeats. */
const MAX_SHOWN = 2048;

/** What the revisions before 2026-07-28 call an unknown resource. */
const RESOURCE_NOT_FOUND = -32002;

/** The code of the JSON-RPC error, as the revision has it. */
export function rpcCodeOf({ code, rpc }: GatewayError, revision?: Revision): number {
  return code === 'resource_unknown' && revision === EARLIER ? RESOURCE_NOT_FOUND : rpc;
}

/**
 * Writes the response that tells a client of an error: words of the error table, and what the revisions show of the
 * `message` that it answers.
 */
export function writeError(error: GatewayError, message: unknown, requestId: string, revision?: Revision): Buffer {
  const { code, detail, upstream, retryAfterSeconds } = error;
  const whence = upstream === undefined ? '' : ` (upstream ${upstream})`;
  const data = { code, requestId, upstream, retryAfterSeconds, ...shownOf(message, code) };
  return Buffer.from(
    JSON.stringify({
      jsonrpc: '2.0',
      id: idOf(message),
      error: { code: rpcCodeOf(error, revision), message: `${detail}${whence}`, data },
    }),
  );
}

function shownOf(message: unknown, code: ErrorCode): object | undefined {
  const { uri, protocolVersion } = Object(Object(message).params);
  // 2026-07-28, server/resources, Error Handling.
  if (code === 'resource_unknown') return { uri: shown(uri) };
  if (code !== 'version_unsupported') return undefined;
  const requested = claimOf(message) ?? protocolVersion;
  if (requested === undefined) return { supported: SUPPORTED_PROTOCOL_VERSIONS };
  return { supported: [CURRENT], requested: shown(requested) };
}

/** A text as an error repeats it. It repeats nothing else: a value may be nested deeper than can be written. */
function shown(value: unknown): string | undefined {
  return typeof value === 'string' ? value.slice(0, MAX_SHOWN) : undefined;
}
