import { isIP } from 'node:net';
import type { RequestRecord } from '../../core/kernel/caller.ts';
import { readVersion } from '../../core/kernel/version.ts';

/** Who sent a request, as far as it is known. */
export interface Auditee {
  /** Address of the client; `unix` for a Unix socket. */
  readonly from?: string | undefined;
  subject?: string | undefined;
  /** Keyed hash of the token. */
  token?: string | undefined;
}

/** Returns a read that ended at `now` (milliseconds since the epoch) in the words of the log. */
export function plainLine(request: RequestRecord, auditee: Auditee, now: number): object {
  const { edge, requestId, traceId, status, cache, outcome, resource, rpc, tool } = request;
  return {
    ...{ level: 'info', time: new Date(now).toISOString(), outcome, resource, ...auditee },
    ...{ edge, rpc, tool, status, cache, requestId, traceId, msg: 'audit' },
  };
}

/** OCSF's API Activity of version 1.6.0, whose required attributes 1.8.0 has, too. */
const CLASS = { category_uid: 6, class_uid: 6003, activity_id: 2, type_uid: 600302, severity_id: 1 };
const SCHEMA_VERSION = '1.6.0';
const PRODUCT = { name: 'Portico', vendor_name: 'Portico', version: readVersion() };

const SUCCESSES: ReadonlySet<string> = new Set(['ok', 'not_modified']);

/** Returns the same as an event of OCSF. */
export function ocsfEvent(request: RequestRecord, { from, subject, token }: Auditee, time: number): object {
  const { edge, method, route, requestId, traceId, status, cache, outcome, resource, rpc, tool } = request;
  const isSuccess = SUCCESSES.has(outcome);
  const isAddress = from !== undefined && isIP(from) !== 0;
  const user = subject === undefined ? undefined : { uid: subject };
  const session = token === undefined ? undefined : { credential_uid: token };
  return {
    ...CLASS,
    time,
    status_id: isSuccess ? 1 : 2,
    status_code: outcome,
    metadata: { version: SCHEMA_VERSION, product: PRODUCT, log_name: 'audit', correlation_uid: traceId },
    actor: { user: user ?? (session ? undefined : { name: 'unknown' }), session },
    src_endpoint: isAddress ? { ip: from } : { name: from ?? edge },
    api: {
      operation: rpc ?? `${method} ${route}`,
      request: { uid: requestId },
      response: { code: status, error: isSuccess ? undefined : outcome },
    },
    resources: resource === undefined ? undefined : [{ name: resource }],
    unmapped: { edge, tool, cache },
  };
}
