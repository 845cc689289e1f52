import { randomUUID } from 'node:crypto';
import { mentionsCredential } from '../credentials/mention.ts';

/** Needs no escaping in a header, a log line, JSON, or the `urn:` of a problem's `instance`. */
const WELL_FORMED = /^[A-Za-z0-9._~:/+=@-]{1,128}$/;

/**
 * The request id that a caller brought, or a new UUID where that is not well-formed or repeats the credential: the id
 * goes into logs, and what stands in `Authorization` must not.
 */
export function chooseRequestId(brought: string | undefined, authorization: readonly string[]): string {
  const usable = brought !== undefined && WELL_FORMED.test(brought) && !mentionsCredential(brought, authorization);
  return usable ? brought : randomUUID();
}
