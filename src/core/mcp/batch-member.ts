import { isOfCredential } from '../kernel/errors.ts';
import type { RequestRecord } from '../kernel/request-record.ts';

/**
 * Processes one request of a batch, and adds its record to the batch's. The batch's error is that of the last one; a
 * rejected credential is never replaced, because limits count it.
 */
export async function asMember<T>(record: RequestRecord, rpc: string, work: () => T | Promise<T>): Promise<T> {
  const { tool, resource, error } = record;
  record.tool = undefined;
  record.resource = undefined;
  record.error = undefined;
  let outcome = 'caller_gone';
  try {
    const result = await work();
    outcome = (record.error as RequestRecord['error'])?.code ?? 'ok';
    return result;
  } finally {
    record.members ??= [];
    record.members.push({ rpc, tool: record.tool, resource: record.resource, outcome });
    record.tool ??= tool;
    record.resource ??= resource;
    if (record.error === undefined || isOfCredential(error)) record.error = error;
  }
}
