import { once } from 'node:events';
import { PassThrough, pipeline, type Readable, type Writable } from 'node:stream';
import type { Identity } from '../credentials/authenticate.ts';
import { endRecord, newRequestId, type RequestRecord } from '../kernel/caller.ts';
import { errorWithDetail, GatewayError } from '../kernel/errors.ts';
import { nextTurn } from '../kernel/event-loop.ts';
import { clientOf } from './client-record.ts';
import { createDispatch, type DispatchOptions } from './dispatch.ts';
import { readEnvelope } from './envelope.ts';
import { type Line, linesOf } from './lines.ts';
import { type JSONRPCRequest, loggedMethod, parseMessage, type RequestId } from './message.ts';
import type { Pieces, RequestContext, SendNotification } from './request-context.ts';
import type { Revision } from './revisions.ts';
import { createRecordError, writeError } from './rpc-errors.ts';

export interface StdioOptions extends DispatchOptions {
  readonly input: Readable;
  readonly output: Writable;
  readonly identity: Identity;
  /** Called for each message. @default none */
  readonly onCaller?: (record: RequestRecord, identity: Identity) => void;
  /** Maximum size of a message. */
  readonly maxBodyBytes: number;
  readonly maxMessageValues: number;
  /** Time for pending requests once `drain` is called. */
  readonly graceMs: number;
}

interface OpenRequest extends RequestContext {
  readonly controller: AbortController;
}

/**
 * Upper bound of the time for pending requests after the end of the input, and of that for a client that reads nothing: clients send
 * SIGTERM 2 s after the end, and SIGKILL 2 s later.
 */
export const MAX_END_GRACE_MS = 1500;

/**
 * MCP over a pair of streams, one message a line, each answered by itself as over HTTP. The SDK's transport drops requests in flight at
 * the end of its input, and a last line without its end. `closed` resolves with whether the client has received all responses.
 */
export function openStdio(options: StdioOptions) {
  const { input, output, identity, onCaller, events, maxBodyBytes, maxMessageValues, graceMs } = options;
  const dispatch = createDispatch({ ...options, canNotify: true });
  const ending = new AbortController();
  const recordError = createRecordError(events);
  const open = new Map<RequestId, OpenRequest>();
  const { promise: closed, resolve } = Promise.withResolvers<boolean>();
  const endGraceMs = Math.min(graceMs, MAX_END_GRACE_MS);
  let isReading = true;
  let grace: NodeJS.Timeout | undefined;
  let isClosed = false;

  function contextOf(message: unknown): OpenRequest {
    const requestId = newRequestId();
    const controller = new AbortController();
    const record: RequestRecord = {
      ...{ edge: 'stdio', requestId, callerKey: identity.credentialKey, rpc: loggedMethod(message) },
      ...{ startedAt: performance.now(), ms: 0, outcome: 'internal', bytes: 0 },
      client: clientOf(message, undefined, identity),
    };
    onCaller?.(record, identity);
    const caller = { ...identity, requestId };
    const { signal } = controller;
    return { controller, caller, signal, ending: ending.signal, notify, noCache: false, noStore: false, record };
  }

  function end({ record }: OpenRequest, outcome: string): void {
    record.outcome = outcome;
    endRecord(record);
    events.requestEnded?.(record);
  }

  /** Answers no further message while the client does not read its responses. Reads on, since only a reader sees the end of its input. */
  async function takeLines(): Promise<void> {
    const ahead = pipeline(input, new PassThrough({ highWaterMark: maxBodyBytes }), () => {});
    for await (const line of linesOf(ahead, maxBodyBytes)) {
      if (output.writableNeedDrain) await once(output, 'drain');
      if (isClosed) return;
      take(line);
      await nextTurn();
    }
  }

  function take(line: Line): void {
    let message: unknown;
    try {
      if (line instanceof GatewayError) throw line;
      if (line.toString('latin1').trim() === '') return;
      message = parseMessage(line, maxMessageValues);
      const { request, notification, revision } = readEnvelope(message);
      if (request !== undefined) answer(request, revision);
      else if (notification?.method === 'notifications/cancelled') cancel(notification.params?.['requestId']);
    } catch (error) {
      const request = contextOf(message);
      respond(request, [writeError(recordError(error, request), message, request.record.requestId)]);
    }
  }

  function answer(message: JSONRPCRequest, revision: Revision): void {
    const { id } = message;
    if (open.has(id)) throw errorWithDetail('invalid_rpc', 'A request with this id is still in progress.');
    const request = contextOf(message);
    open.set(id, request);
    const responded = dispatch(message, revision, request).then(({ response, stream }) => stream?.(notify) ?? response);
    responded.then(
      (response) => {
        if (request.signal.aborted) return;
        open.delete(id);
        respond(request, response);
      },
      // Dispatch rejects when no one waits, which has been recorded.
      () => {},
    );
  }

  const notify: SendNotification = (notification) =>
    new Promise((written) => write([JSON.stringify(notification)], written));

  function respond(request: OpenRequest, response: Pieces): void {
    for (const piece of response) request.record.bytes += Buffer.byteLength(piece);
    write(response);
    end(request, request.record.error?.code ?? 'ok');
  }

  function write(pieces: Pieces, onWritten = () => {}): void {
    output.cork();
    for (const piece of pieces) output.write(piece);
    // Called with an error, too, where the output is closed.
    output.write('\n', () => {
      onWritten();
      closeIfDrained();
    });
    output.uncork();
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

  /** Stops reading, and closes when the client has all responses, or after this time. */
  function drainWithin(ms: number): void {
    if (isClosed || grace !== undefined) return;
    grace = setTimeout(close, ms);
    ending.abort();
    input.destroy();
    closeIfDrained();
  }

  function closeIfDrained(): void {
    if (grace !== undefined && !isReading && isWhole()) close();
  }

  function isWhole(): boolean {
    return open.size === 0 && output.writableLength === 0;
  }

  function close(): void {
    if (isClosed) return;
    isClosed = true;
    ending.abort();
    clearTimeout(grace);
    input.destroy();
    for (const request of open.values()) abort(request, 'cut');
    resolve(isWhole());
  }

  // Reading rejects where the input fails, or ends early.
  takeLines()
    .catch(() => {})
    .finally(() => {
      isReading = false;
      drainWithin(endGraceMs);
      closeIfDrained();
    });
  input.once('end', () => drainWithin(endGraceMs));
  // The parent process has ended.
  output.on('error', close);
  return {
    closed,
    /** Drains within `graceMs`, or less where the client reads nothing; closes where it is draining already. */
    drain: () => (grace === undefined ? drainWithin(output.writableNeedDrain ? endGraceMs : graceMs) : close()),
  };
}
