import type { Readable, Writable } from 'node:stream';
import type { JSONRPCNotification, JSONRPCRequest, RequestId } from '@modelcontextprotocol/server';
import type { Identity } from '../credentials/authenticate.ts';
import { newRequestId, type RequestRecord } from '../kernel/caller.ts';
import { explained, GatewayError } from '../kernel/errors.ts';
import { nextTurn } from '../kernel/event-loop.ts';
import { clientOf } from './client-record.ts';
import { createDispatch, type DispatchOptions } from './dispatch.ts';
import { type Envelope, readEnvelope } from './envelope.ts';
import { createLines, type Line } from './lines.ts';
import { loggedMethod, parseMessage } from './message.ts';
import type { Pieces, RequestContext } from './request-context.ts';
import { CURRENT, EARLIER, noEnvelope, type Revision } from './revisions.ts';
import { createRecordError, writeError } from './rpc-errors.ts';

export interface StdioOptions extends DispatchOptions {
  readonly input: Readable;
  readonly output: Writable;
  readonly identity: Identity;
  /** Called for each message. @default none */
  readonly onCaller?: (record: RequestRecord, identity: Identity) => void;
  /** Maximum size of a message, and of pending messages while the client does not read its responses. */
  readonly maxBodyBytes: number;
  readonly maxMessageValues: number;
  /** Time for pending requests once `drain` is called. */
  readonly graceMs: number;
}

interface OpenRequest extends RequestContext {
  readonly controller: AbortController;
}

/** Upper bound of the time for pending requests after the end of the input: clients send SIGTERM 2 s after it. */
export const MAX_END_GRACE_MS = 1500;

/**
 * MCP over a pair of streams, one message a line. The SDK's transport drops requests in flight at the end of its input, and a last
 * line without its end. `closed` resolves with whether the client has received all responses.
 */
export function openStdio(options: StdioOptions) {
  const { input, output, identity, onCaller, events, maxBodyBytes, maxMessageValues, graceMs } = options;
  const dispatch = createDispatch({ ...options, canNotify: true });
  const ending = new AbortController();
  const recordError = createRecordError(events);
  const revisionOf = createAgreement();
  const open = new Map<RequestId, OpenRequest>();
  const { promise: closed, resolve } = Promise.withResolvers<boolean>();
  /** Messages that are not taken yet, because the client does not read its responses. */
  const waiting: Line[] = [];
  let waitingBytes = 0;
  let isTaking = false;
  let grace: NodeJS.Timeout | undefined;
  let isClosed = false;

  function contextOf(message: unknown): OpenRequest {
    const requestId = newRequestId();
    const controller = new AbortController();
    const record: RequestRecord = {
      ...{ edge: 'stdio', requestId, callerKey: identity.credentialKey, rpc: loggedMethod(message) },
      ...{ begun: performance.now(), ms: 0, outcome: 'internal', bytes: 0 },
      client: clientOf(message, undefined, identity),
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
    output.write('\n', () => {
      onWritten();
      closeIfDrained();
    });
    output.uncork();
  }

  function notify(notification: JSONRPCNotification): Promise<void> {
    return new Promise((written) => write([JSON.stringify(notification)], written));
  }

  /** Keeps a message until earlier responses have been read. */
  function receive(line: Line): void {
    waiting.push(line);
    waitingBytes += line instanceof GatewayError ? 0 : line.length;
    // Keeps reading until then, because the end of the input is only seen by a reader.
    if (waitingBytes > maxBodyBytes) input.pause();
    if (!isTaking) void takeWaiting();
  }

  /** Takes one message per turn of the event loop, in which a stored snapshot is written, while the client reads. */
  async function takeWaiting(): Promise<void> {
    isTaking = true;
    while (!output.writableNeedDrain) {
      const line = waiting.shift();
      if (line === undefined) break;
      waitingBytes -= line instanceof GatewayError ? 0 : line.length;
      if (!isClosed) take(line);
      await nextTurn();
    }
    isTaking = false;
    if (waitingBytes <= maxBodyBytes && grace === undefined) input.resume();
    closeIfDrained();
  }

  function take(line: Line): void {
    let message: unknown;
    try {
      if (line instanceof GatewayError) throw line;
      if (line.toString('latin1').trim() === '') return;
      message = parseMessage(line, maxMessageValues);
      const envelope = readEnvelope(message);
      if (envelope.request !== undefined) answer(envelope.request, revisionOf(envelope));
      else if (envelope.notification?.method === 'notifications/cancelled') {
        cancel(envelope.notification.params?.['requestId']);
      }
    } catch (error) {
      const request = contextOf(message);
      respond(request, [writeError(recordError(error, request), message, request.record.requestId)]);
    }
  }

  function answer(message: JSONRPCRequest, revision: Revision): void {
    const { id } = message;
    if (open.has(id)) throw explained('invalid_rpc', 'A request with this id is still in progress.');
    const request = contextOf(message);
    open.set(id, request);
    const responded = dispatch(message, revision, request).then(({ response, stream }) => stream?.(notify) ?? response);
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

  function respond(request: OpenRequest, response: Pieces): void {
    for (const piece of response) request.record.bytes += Buffer.byteLength(piece);
    write(response);
    end(request, request.record.error?.code ?? 'ok');
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
    input.off('data', lines.push);
    input.pause();
    closeIfDrained();
  }

  function closeIfDrained(): void {
    if (grace !== undefined && isWhole()) close();
  }

  function isWhole(): boolean {
    return open.size === 0 && waiting.length === 0 && output.writableLength === 0;
  }

  function close(): void {
    if (isClosed) return;
    isClosed = true;
    ending.abort();
    clearTimeout(grace);
    input.off('data', lines.push);
    input.pause();
    for (const request of open.values()) abort(request, 'cut');
    resolve(isWhole());
  }

  const lines = createLines(maxBodyBytes, receive);
  input.on('data', lines.push);
  for (const event of ['error', 'end', 'close']) {
    input.on(event, () => {
      lines.end();
      drainWithin(Math.min(graceMs, MAX_END_GRACE_MS));
    });
  }
  output.on('drain', () => {
    if (!isTaking) void takeWaiting();
  });
  // The parent process has ended.
  output.on('error', close);
  return {
    closed,
    /** Drains within `graceMs`; closes where it is draining already. */
    drain: () => (grace === undefined ? drainWithin(graceMs) : close()),
  };
}

/** The first request other than `server/discover` decides about the revision of all that follow; others throw. */
function createAgreement(): (envelope: Envelope) => Revision {
  let agreed: Revision | undefined;
  return ({ request, revision }) => {
    if (agreed === EARLIER) return agreed;
    if (revision === EARLIER && agreed === CURRENT) throw request?.method === 'initialize' ? tooLate() : noEnvelope();
    if (revision === EARLIER || request?.method !== 'server/discover') agreed = revision;
    return revision;
  };
}

function tooLate(): GatewayError {
  const detail = `This connection uses revision ${CURRENT}, which has no initialize. Open another one for an earlier revision.`;
  return new GatewayError('version_unsupported', { detail });
}
