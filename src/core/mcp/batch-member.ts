import { isOfCredential } from '../kernel/errors.ts';
import type { RequestRecord } from '../kernel/request-record.ts';

/**
 * Works on one request of a batch, and notes on the batch's record what that came to by itself. The error of the whole is the
 * last one; a refused credential is replaced by no other, since limits count it.
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
