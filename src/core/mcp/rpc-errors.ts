import { createErrorRecorder } from '../credentials/error-recorder.ts';
import { credentialsOf } from '../credentials/redact.ts';
import type { ErrorCode } from '../kernel/error-table.ts';
import { type Challenge, GatewayError } from '../kernel/errors.ts';
import type { Events } from '../kernel/events.ts';
import { idOf } from './message.ts';
import type { RequestContext } from './request-context.ts';
import { CURRENT, claimOf, EARLIER, EARLIER_REVISIONS, type Revision } from './revisions.ts';

/** All errors of methods and tools pass here. */
export type RecordError = (thrown: unknown, context: RequestContext) => GatewayError;

export function createRecordError(events: Events): RecordError {
  const { recordError } = createErrorRecorder(events);
  return (thrown, { caller, record }) => recordError(thrown, record, caller ? credentialsOf(caller) : []);
}

/** Returns the challenge that replaces a request's response; `undefined` for none. */
export type ChallengeFor = (thrown: unknown) => string | undefined;

/**
 * Clients sign in again after HTTP 401 and 403. That helps only if an authorization server is known (`challenge`) and
 * another token corrects the error. Otherwise one of several platforms would log the client out of all
 * (docs/decisions/0029).
 */
export function createChallengeFor(challenge?: Challenge): ChallengeFor {
  return (thrown) => {
    if (challenge === undefined || !(thrown instanceof GatewayError)) return undefined;
    const isOfToken = thrown.code === 'credential_rejected' && thrown.header === undefined;
    const isMended = isOfToken || thrown.scopes !== undefined;
    return isMended ? challenge(thrown) : undefined;
  };
}

/** Maximum length of external text that an error repeats. */
const MAX_SHOWN = 2048;

/** Code of an unknown resource before 2026-07-28. */
const RESOURCE_NOT_FOUND = -32002;

/** Returns the JSON-RPC code of an error for a revision. */
export function rpcCodeOf({ code, rpc }: GatewayError, revision?: Revision): number {
  return code === 'resource_unknown' && revision === EARLIER ? RESOURCE_NOT_FOUND : rpc;
}

/** The detail of an error with its time to wait: who reads a message sees no `Retry-After`. */
export function detailWithWait({ detail, retryAfterSeconds }: GatewayError): string {
  if (retryAfterSeconds === undefined) return detail;
  const wait = `${retryAfterSeconds} s`;
  if (detail.includes('Retry-After')) return detail.replace('Retry-After', wait);
  return `${detail} Wait ${wait} before the next attempt.`;
}

/** Writes texts of the error table, and the parts of `message` that the revision requires. */
export function writeError(error: GatewayError, message: unknown, requestId: string, revision?: Revision): Buffer {
  const { code, upstream, retryAfterSeconds } = error;
  const whence = upstream === undefined ? '' : ` (upstream ${upstream})`;
  const data = { code, requestId, upstream, retryAfterSeconds, ...shownOf(message, code) };
  return Buffer.from(
    JSON.stringify({
      jsonrpc: '2.0',
      id: idOf(message),
      error: { code: rpcCodeOf(error, revision), message: `${detailWithWait(error)}${whence}`, data },
    }),
  );
}

function shownOf(message: unknown, code: ErrorCode): object | undefined {
  const { uri, protocolVersion } = Object(Object(message).params);
  // 2026-07-28, server/resources, Error Handling.
  if (code === 'resource_unknown') return { uri: shown(uri) };
  if (code !== 'version_unsupported') return undefined;
  const requested = claimOf(message) ?? protocolVersion;
  if (requested === undefined) return { supported: EARLIER_REVISIONS };
  return { supported: [CURRENT], requested: shown(requested) };
}

/** Returns text as an error repeats it, and nothing else: other values may nest too deep to be written. */
function shown(value: unknown): string | undefined {
  return typeof value === 'string' ? value.slice(0, MAX_SHOWN) : undefined;
}
