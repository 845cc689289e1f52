import type { JSONRPCRequest } from '@modelcontextprotocol/server';
import { explained, isOfCredential } from '../kernel/errors.ts';
import type { RequestRecord } from '../kernel/request-record.ts';
import { nextTurn } from '../kernel/turns.ts';
import type { Dispatch } from './dispatch.ts';
import { loggedMethod } from './message.ts';
import { InnerContext, type RequestContext } from './request-context.ts';
import type { Revision } from './revisions.ts';
import { type RecordError, writeError } from './rpc-errors.ts';

export interface BatchOptions {
  readonly dispatch: Dispatch;
  readonly recordError: RecordError;
  /** Bytes of all responses to one batch, except the first, which may be one read. */
  readonly maxAnswerBytes: number;
}

const [OPENED, COMMA, CLOSED] = ['[', ',', ']'].map((text) => Buffer.from(text)) as [Buffer, Buffer, Buffer];

/**
 * Answers the requests of a batch one after the other, while their responses fit the common bound; the rest are not
 * processed. Resolves with the JSON of all responses, in pieces.
 */
export async function answerBatch(
  requests: readonly JSONRPCRequest[],
  revision: Revision,
  context: RequestContext,
  { dispatch, recordError, maxAnswerBytes }: BatchOptions,
): Promise<readonly Buffer[]> {
  const batch = new InnerContext(context, { caller: context.caller, batchReads: new Map() });
  const pieces: Buffer[] = [];
  let bytes = 0;
  let isFull = false;

  function beyond(request: JSONRPCRequest): Buffer {
    const detail = `The responses to a batch may take ${maxAnswerBytes} bytes together. Send this request again, by itself.`;
    const error = recordError(explained('result_too_large', detail, { bound: 'mcp.maxAnswerBytes' }), batch);
    return writeError(error, request, context.record.requestId, revision);
  }

  for (const one of requests) {
    // Yields between two requests of a batch that need not be awaited.
    if (pieces.length > 0) await nextTurn();
    context.signal.throwIfAborted();
    const response = await asMember(context.record, loggedMethod(one), async () => {
      const answered = isFull ? [] : (await dispatch(one, revision, batch)).response;
      const length = answered.reduce((total, piece) => total + piece.length, 0);
      isFull ||= bytes > 0 && bytes + length > maxAnswerBytes;
      if (isFull) return [beyond(one)];
      bytes += length;
      return answered;
    });
    pieces.push(pieces.length === 0 ? OPENED : COMMA, ...response);
  }
  return [...pieces, CLOSED];
}

/**
 * Processes one request of a batch, and adds its record to the batch's. The batch's error is that of the last one; a
 * rejected credential is never replaced, because limits count it.
 */
async function asMember<T>(record: RequestRecord, rpc: string, work: () => Promise<T>): Promise<T> {
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
