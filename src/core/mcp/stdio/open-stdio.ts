import { randomUUID } from 'node:crypto';
import type { Readable, Writable } from 'node:stream';
import {
  isJSONRPCNotification,
  isJSONRPCRequest,
  isJSONRPCResponse,
  type JSONRPCRequest,
  type RequestId,
} from '@modelcontextprotocol/server';
import type { Identity } from '../../credentials/authenticate.ts';
import { GatewayError } from '../../kernel/errors.ts';
import type { RequestRecord } from '../../kernel/request-record.ts';
import { createDispatch, type DispatchOptions } from '../dispatch.ts';
import { loggedMethod, parseMessage } from '../message.ts';
import { andThen, type RequestContext } from '../request-context.ts';
import { createRecordError, writeError } from '../rpc-errors.ts';
import { createAgreement } from './agreement.ts';
import { createLines } from './lines.ts';

export interface StdioOptions extends DispatchOptions {
  readonly input: Readable;
  readonly output: Writable;
  /** Who asks, on the whole of the connection. */
  readonly identity: Identity;
  /** Called for each message. @default nothing is done */
  readonly onCaller?: (record: RequestRecord, identity: Identity) => void;
  /** Longest message that is read, and what is held of messages while the client does not read its responses. */
  readonly maxBodyBytes: number;
  /** Objects, lists and members of one message. */
  readonly maxMessageValues: number;
  /** How long what was begun may take once nothing more is read. */
  readonly graceMs: number;
}

/** MCP over a pair of streams, for one client. */
export interface StdioConnection {
  /** Reads no more, as at the end of the input: closes once the client has all responses, or `graceMs` have passed. */
  drain(): void;
  /** Resolves when it is closed, with whether the client has the responses to all that was read. */
  readonly closed: Promise<boolean>;
}

/** A request until it is answered. */
interface OpenRequest extends RequestContext {
  readonly controller: AbortController;
}

const NEWLINE = Buffer.from('\n');

/** Begins to answer: one message a line, each request with an id and a record of its own. */
export function openStdio(options: StdioOptions): StdioConnection {
  const { input, output, identity, onCaller, events, maxBodyBytes, maxMessageValues, graceMs } = options;
  const dispatch = createDispatch(options);
  const recordError = createRecordError(events);
  const revisionOf = createAgreement();
  const open = new Map<RequestId, OpenRequest>();
  const { promise: closed, resolve } = Promise.withResolvers<boolean>();
  /** Messages that came while the client did not read its responses. */
  const waiting: Buffer[] = [];
  let waitingBytes = 0;
  let grace: NodeJS.Timeout | undefined;
  let draining = false;
  let isClosed = false;

  function begin(message: unknown): OpenRequest {
    const requestId = randomUUID();
    const controller = new AbortController();
    const record: RequestRecord = {
      ...{ edge: 'stdio', requestId, callerKey: identity.key, rpc: loggedMethod(message) },
      ...{ begun: performance.now(), ms: 0, outcome: 'internal', bytes: 0 },
    };
    onCaller?.(record, identity);
    return { controller, caller: { ...identity, requestId }, signal: controller.signal, noCache: false, record };
  }

  function end({ record }: OpenRequest, outcome: string): void {
    record.outcome = outcome;
    record.ms = performance.now() - record.begun;
    events.requestEnded?.(record);
  }

  function write(pieces: readonly Buffer[]): void {
    if (isClosed) return;
    output.cork();
    for (const piece of pieces) output.write(piece);
    output.write(NEWLINE, closeIfDrained);
    output.uncork();
  }

  /** Answers a message, but not while the responses ahead of it are not read. */
  function receive(line: Buffer): void {
    if (waiting.length === 0 && !output.writableNeedDrain) {
      take(line);
      return;
    }
    waiting.push(line);
    waitingBytes += line.length;
    // Until then it reads on, since the end of the input shows only to whoever reads.
    if (waitingBytes > maxBodyBytes) input.pause();
  }

  function takeWaiting(): void {
    while (waiting.length > 0 && !output.writableNeedDrain) {
      const line = waiting.shift() as Buffer;
      waitingBytes -= line.length;
      take(line);
    }
    if (waitingBytes <= maxBodyBytes && !draining) input.resume();
    closeIfDrained();
  }

  function respond(request: OpenRequest, response: readonly Buffer[]): void {
    for (const { length } of response) request.record.bytes += length;
    write(response);
    end(request, request.record.error?.code ?? 'ok');
  }

  /** Answers what is no request that could be dispatched. */
  function reject(thrown: unknown, message?: unknown): void {
    const request = begin(message);
    respond(request, [writeError(recordError(thrown, request), message, request.record.requestId)]);
  }

  function take(line: Buffer): void {
    if (isClosed || line.toString('latin1').trim() === '') return;
    let message: unknown;
    try {
      message = parseMessage(line, maxMessageValues);
      accept(message);
    } catch (error) {
      reject(error, message);
    }
  }

  function accept(message: unknown): void {
    if (isJSONRPCRequest(message)) answer(message);
    else if (isJSONRPCNotification(message)) {
      if (message.method === 'notifications/cancelled') cancel(message.params?.['requestId']);
    } else if (Array.isArray(message)) {
      throw new GatewayError('invalid_rpc', { detail: 'Batches are not taken here: send one message at a time.' });
    } else if (!isJSONRPCResponse(message)) throw new GatewayError('invalid_rpc');
  }

  function answer(message: JSONRPCRequest): void {
    const { id } = message;
    if (open.has(id)) {
      throw new GatewayError('invalid_rpc', { detail: 'Another request of this id waits for its response.' });
    }
    const revision = revisionOf(message);
    const request = begin(message);
    open.set(id, request);
    const answered = andThen(dispatch(message, revision, request), ({ response, notification }) => {
      if (request.signal.aborted) return;
      if (notification !== undefined) write([Buffer.from(JSON.stringify(notification))]);
      open.delete(id);
      respond(request, response);
      closeIfDrained();
    });
    // It rejects where nobody waits any more, which has been told already.
    if (answered instanceof Promise) answered.catch(() => {});
  }

  function cancel(id: unknown): void {
    const request = open.get(id as RequestId);
    if (request === undefined) return;
    open.delete(id as RequestId);
    abort(request, 'cancelled');
    closeIfDrained();
  }

  function abort(request: OpenRequest, outcome: string): void {
    request.controller.abort();
    end(request, outcome);
  }

  function stopReading(): void {
    input.off('data', lines);
    input.pause();
  }

  function drain(): void {
    if (draining || isClosed) return;
    draining = true;
    stopReading();
    grace = setTimeout(close, graceMs);
    closeIfDrained();
  }

  function closeIfDrained(): void {
    if (draining && isWhole()) close();
  }

  function isWhole(): boolean {
    return open.size === 0 && waiting.length === 0 && output.writableLength === 0;
  }

  function close(): void {
    if (isClosed) return;
    isClosed = true;
    clearTimeout(grace);
    stopReading();
    for (const request of open.values()) abort(request, 'cut');
    resolve(isWhole());
  }

  const lines = createLines({
    maxBytes: maxBodyBytes,
    onLine: receive,
    onTooLong: () => reject(new GatewayError('too_large', { bound: 'mcp.maxBodyBytes' })),
  });
  input.on('data', lines);
  for (const event of ['error', 'end', 'close']) input.on(event, drain);
  output.on('drain', takeWaiting);
  // Whoever started this process is gone.
  output.on('error', close);
  return { drain, closed };
}
