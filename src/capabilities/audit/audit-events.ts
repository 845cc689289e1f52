import type { Events } from '../../core/kernel/events.ts';
import type { MemberRecord, RequestRecord } from '../../core/kernel/request-record.ts';
import type { Logger } from '../../core/log/logger.ts';

/** Methods of JSON-RPC that show items. */
const READS: ReadonlySet<string> = new Set(['resources/read', 'tools/call']);

/**
 * Who has read what, as a listener: a line for each read, and for each request that was refused before it could be known
 * what it wanted. Of a batch each read has one.
 */
export function auditEvents(logger: Logger): Events {
  return {
    requestEnded(request) {
      if (request.auditee === undefined) return;
      for (const one of request.members ?? [request]) {
        if (one.rpc === undefined || READS.has(one.rpc) || wasRefused(request)) {
          logger.info(lineOf(request, one), 'audit');
        }
      }
    },
  };
}

/** Whether a batch was refused as a whole. */
function wasRefused({ rpc, members, error }: RequestRecord): boolean {
  return rpc === 'batch' && members === undefined && error !== undefined;
}

function lineOf({ edge, auditee, requestId, traceId, status, cache }: RequestRecord, one: MemberRecord): object {
  return {
    outcome: one.outcome,
    resource: one.resource,
    ...auditee,
    edge,
    rpc: one.rpc,
    tool: one.tool,
    status,
    cache,
    requestId,
    traceId,
  };
}
