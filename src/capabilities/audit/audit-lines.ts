import type { Events } from '../../core/kernel/events.ts';
import type { MemberRecord, RequestRecord } from '../../core/kernel/request-record.ts';
import type { Logger } from '../../core/log/logger.ts';

/** Who sent a request, and from where. */
export interface Auditee {
  /** Address of the client, as reported by trusted proxies; absent over stdio. */
  readonly from?: string | undefined;
  /** Subject of a verified token. */
  subject?: string | undefined;
  /** HMAC of the token under the key that settings name. */
  token?: string | undefined;
}

/** Methods of JSON-RPC that return items. */
const READS: ReadonlySet<string> = new Set(['resources/read', 'tools/call']);

/**
 * Writes a line for each read, and for each request that was rejected before it was known what it reads. A batch has a line for
 * each of its reads. `auditeeOf` returns `undefined` for a request that can read nothing.
 */
export function auditLines(logger: Logger, auditeeOf: (request: RequestRecord) => Auditee | undefined): Events {
  return {
    requestEnded(request) {
      const auditee = auditeeOf(request);
      if (auditee === undefined) return;
      for (const one of request.members ?? [request]) {
        if (one.rpc === undefined || READS.has(one.rpc) || wasRejected(request)) {
          logger.info(lineOf(request, auditee, one), 'audit');
        }
      }
    },
  };
}

/** Whether a batch was rejected as a whole. */
function wasRejected({ rpc, members, error }: RequestRecord): boolean {
  return rpc === 'batch' && members === undefined && error !== undefined;
}

function lineOf(
  { edge, requestId, traceId, status, cache }: RequestRecord,
  auditee: Auditee,
  { outcome, resource, rpc, tool }: MemberRecord,
): object {
  return { outcome, resource, ...auditee, edge, rpc, tool, status, cache, requestId, traceId };
}
