import type { Readable, Writable } from 'node:stream';
import {
  isJSONRPCResponse,
  type JSONRPCNotification,
  type JSONRPCRequest,
  type RequestId,
} from '@modelcontextprotocol/server';
import type { Identity } from '../../credentials/authenticate.ts';
import { newRequestId, type RequestRecord } from '../../kernel/caller.ts';
import { explained, GatewayError } from '../../kernel/errors.ts';
import { nextTurn } from '../../kernel/turns.ts';
import { createDispatch, type DispatchOptions } from '../dispatch.ts';
import { clientOf, noBatches } from '../envelope.ts';
import { fits, isNotification, isRequest, loggedMethod, parseMessage } from '../message.ts';
import type { Pieces, RequestContext } from '../request-context.ts';
import { createAgreement } from '../revisions.ts';
import { createRecordError, writeError } from '../rpc-errors.ts';

export interface StdioOptions extends DispatchOptions {
  readonly input: Readable;
  readonly output: Writable;
  readonly identity: Identity;
  /** Called for each message. @default none */
  readonly onCaller?: (record: RequestRecord, identity: Identity) => void;
  /** Maximum size of a message, and of pending messages while the client does not read its responses. */
  readonly maxBodyBytes: number;
  readonly maxMessageValues: number;
  /** Time for pending requests after the end of the input. */
  readonly graceMs: number;
}

interface OpenRequest extends RequestContext {
  readonly controller: AbortController;
}

const NO_HEADERS = { protocolVersion: undefined, userAgent: undefined };
const NEWLINE = Buffer.from('\n');

/** `closed` resolves with whether the client has received all responses. */
export function openStdio(options: StdioOptions) {
  const { input, output, identity, onCaller, events, maxBodyBytes, maxMessageValues, graceMs } = options;
  const dispatch = createDispatch({ ...options, canNotify: true });
  const ending = new AbortController();
  const recordError = createRecordError(events);
  const revisionOf = createAgreement();
  const open = new Map<RequestId, OpenRequest>();
  const { promise: closed, resolve } = Promise.withResolvers<boolean>();
  /** Messages that are not taken yet, because the client does not read its responses. */
  const waiting: (Buffer | GatewayError)[] = [];
  let waitingBytes = 0;
  let isTaking = false;
  let grace: NodeJS.Timeout | undefined;
  let draining = false;
  let isClosed = false;

  function begin(message: unknown): OpenRequest {
    const requestId = newRequestId();
    const controller = new AbortController();
    const record: RequestRecord = {
      ...{ edge: 'stdio', requestId, callerKey: identity.credentialKey, rpc: loggedMethod(message) },
      ...{ begun: performance.now(), ms: 0, outcome: 'internal', bytes: 0 },
      client: clientOf(message, NO_HEADERS, identity),
    };
    onCaller?.(record, identity);
    const caller = { ...identity, requestId };
    return { controller, caller, signal: controller.signal, ending: ending.signal, notify, noCache: false, record };
  }

  function end({ record }: OpenRequest, outcome: string): void {
    record.outcome = outcome;
    record.ms = performance.now() - record.begun;
    events.requestEnded?.(record);
  }

  function write(pieces: Pieces, onWritten = () => {}): void {
    if (isClosed) {
      onWritten();
      return;
    }
    output.cork();
    for (const piece of pieces) output.write(piece);
    output.write(NEWLINE, () => {
      onWritten();
      closeIfDrained();
    });
    output.uncork();
  }

  function notify(notification: JSONRPCNotification): Promise<void> {
    return new Promise((resolve) => write([JSON.stringify(notification)], resolve));
  }

  /** Keeps a message until earlier responses have been read: its line, or an error where that is too long. */
  function receive(line: Buffer | GatewayError): void {
    waiting.push(line);
    waitingBytes += sizeOf(line);
    // Keeps reading until then, because the end of the input is only seen by a reader.
    if (waitingBytes > maxBodyBytes) input.pause();
    if (!isTaking) void takeWaiting();
  }

  /** Takes messages one per turn of the event loop, in which a stored snapshot is written, while the client reads. */
  async function takeWaiting(): Promise<void> {
    isTaking = true;
    while (waiting.length > 0 && !output.writableNeedDrain) {
      const line = waiting.shift() as Buffer | GatewayError;
      waitingBytes -= sizeOf(line);
      take(line);
      await nextTurn();
    }
    isTaking = false;
    if (waitingBytes <= maxBodyBytes && !draining) input.resume();
    closeIfDrained();
  }

  function respond(request: OpenRequest, response: Pieces): void {
    for (const piece of response) request.record.bytes += Buffer.byteLength(piece);
    write(response);
    end(request, request.record.error?.code ?? 'ok');
  }

  /** Answers a message that is not a request. */
  function reject(thrown: unknown, message?: unknown): void {
    const request = begin(message);
    respond(request, [writeError(recordError(thrown, request), message, request.record.requestId)]);
  }

  function take(line: Buffer | GatewayError): void {
    if (isClosed) return;
    let message: unknown;
    try {
      if (line instanceof GatewayError) throw line;
      if (line.toString('latin1').trim() === '') return;
      message = parseMessage(line, maxMessageValues);
      accept(message);
    } catch (error) {
      reject(error, message);
    }
  }

  function accept(message: unknown): void {
    if (isRequest(message)) answer(message);
    else if (isNotification(message)) {
      if (message.method === 'notifications/cancelled') cancel(message.params?.['requestId']);
    } else if (Array.isArray(message)) {
      throw noBatches();
    } else if (!fits(isJSONRPCResponse, message)) throw new GatewayError('invalid_rpc');
  }

  function answer(message: JSONRPCRequest): void {
    const { id } = message;
    if (open.has(id)) {
      throw explained('invalid_rpc', 'A request with this id is still in progress.');
    }
    const revision = revisionOf(message);
    const request = begin(message);
    open.set(id, request);
    const dispatched = dispatch(message, revision, request);
    const responded = dispatched.then(({ response, stream }) => stream?.(notify) ?? response);
    responded.then(
      (response) => {
        if (request.signal.aborted) return;
        open.delete(id);
        respond(request, response);
        closeIfDrained();
      },
      // It rejects when no one waits, which has been recorded.
      () => {},
    );
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

  /** Stops reading, like the end of the input: closes when the client has all responses, or after `graceMs`. */
  function drain(): void {
    if (draining || isClosed) return;
    draining = true;
    ending.abort();
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
    ending.abort();
    clearTimeout(grace);
    stopReading();
    for (const request of open.values()) abort(request, 'cut');
    resolve(isWhole());
  }

  const lines = createLines(maxBodyBytes, receive);
  input.on('data', lines);
  for (const event of ['error', 'end', 'close']) input.on(event, drain);
  output.on('drain', () => {
    if (!isTaking) void takeWaiting();
  });
  // The parent process has ended.
  output.on('error', close);
  return { drain, closed };
}

/** Splits a stream of bytes into lines, and holds at most one. A longer one is an error; an unterminated one is ignored. */
export function createLines(maxBytes: number, onLine: (line: Buffer | GatewayError) => void) {
  let held: Buffer[] = [];
  let heldBytes = 0;

  function hold(piece: Buffer): void {
    const fitted = heldBytes <= maxBytes;
    heldBytes += piece.length;
    if (heldBytes <= maxBytes) held.push(piece);
    else held = [];
    if (fitted && heldBytes > maxBytes) onLine(new GatewayError('too_large', { bound: 'mcp.maxBodyBytes' }));
  }

  return (chunk: Buffer): void => {
    let begun = 0;
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, begun)) {
      hold(chunk.subarray(begun, end));
      if (heldBytes <= maxBytes) onLine(Buffer.concat(held));
      held = [];
      heldBytes = 0;
      begun = end + 1;
    }
    if (begun < chunk.length) hold(chunk.subarray(begun));
  };
}

function sizeOf(line: Buffer | GatewayError): number {
  return line instanceof GatewayError ? 0 : line.length;
}
