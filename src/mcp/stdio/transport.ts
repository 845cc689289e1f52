import type { Readable, Writable } from 'node:stream';
import type { JSONRPCMessage, RequestId, ServerContext, Transport } from '@modelcontextprotocol/server';
import { GatewayError } from '../../kernel/errors.ts';
import type { Logger } from '../../observability/logger.ts';
import type { Ask } from '../ask.ts';
import { checkedMessage } from '../checked-message.ts';
import type { Era } from '../era.ts';
import { idOf, parseMessage } from '../message.ts';
import { finished, rpcErrorOf } from '../rpc-error.ts';
import { createLines } from './lines.ts';
import { type OpenRequest, openRequest, type StdioCaller } from './open-request.ts';

export interface StdioTransportOptions {
  readonly input: Readable;
  readonly output: Writable;
  /** Who asks. */
  readonly caller: StdioCaller;
  /** Longest line that is read. */
  readonly maxBytes: number;
  readonly logger: Logger;
}

/**
 * JSON-RPC, a message a line. Unlike the SDK's own, it answers a line that is no message, reads a line that is too long
 * away, gives each request an id and a line in the log, and waits for what was begun when its input ends.
 */
export interface StdioTransport extends Transport {
  /** Which of the protocol's eras the connection turned out to speak. */
  era: Era;
  askOf(context: ServerContext): Ask;
  /** Reads no more, and calls `onDrained` once every request is answered. */
  drain(): void;
  onDrained?: () => void;
}

export function createStdioTransport({ input, output, caller, maxBytes, logger }: StdioTransportOptions) {
  const open = new Map<RequestId, OpenRequest>();
  let ending = false;
  let closed = false;

  function write(message: unknown): void {
    if (closed || output.write(`${JSON.stringify(message)}\n`) || input.isPaused()) return;
    // Whoever does not read its answers is asked for no more questions.
    input.pause();
    output.once('drain', () => input.resume());
  }

  function end(id: RequestId | undefined, outcome?: string): void {
    if (id === undefined) return;
    open.get(id)?.end(outcome);
    open.delete(id);
    if (ending && open.size === 0) transport.onDrained?.();
  }

  /** Answers what no server gets to see. */
  function refuse(error: unknown, message?: unknown): void {
    const failure = error instanceof GatewayError ? error : new GatewayError('internal', { cause: error });
    const request = openRequest(message, caller, logger);
    request.ask.note({ failure });
    write({ jsonrpc: '2.0', id: idOf(message), error: rpcErrorOf(failure, request.ask.caller.requestId) });
    request.end();
  }

  function take(line: Buffer): void {
    if (line.toString('latin1').trim() === '') return;
    let message: unknown;
    try {
      message = parseMessage(line);
    } catch (cause) {
      refuse(new GatewayError('parse_error', { cause }));
      return;
    }
    try {
      deliver(checkedMessage(message));
    } catch (error) {
      refuse(error, message);
    }
  }

  function deliver(message: JSONRPCMessage): void {
    if ('method' in message && 'id' in message && message.method !== 'subscriptions/listen') {
      if (open.has(message.id)) {
        throw new GatewayError('invalid_rpc', { detail: 'Another request of this id waits for its answer.' });
      }
      open.set(message.id, openRequest(message, caller, logger));
    }
    transport.onmessage?.(message);
    if ('method' in message && message.method === 'notifications/cancelled') {
      end(Object(message.params).requestId, 'cancelled');
    }
  }

  const lines = createLines({ maxBytes, onLine: take, onTooLong: () => refuse(new GatewayError('too_large')) });

  const transport: StdioTransport = {
    era: 'legacy',
    askOf: ({ mcpReq }) => (open.get(mcpReq.id) ?? openRequest(undefined, caller, logger)).ask,
    async start() {
      input.on('data', lines);
      input.on('error', () => transport.drain());
      input.on('end', () => transport.drain());
      input.on('close', () => transport.drain());
      // Whoever started this process is gone.
      output.on('error', () => transport.close());
    },
    async send(message) {
      const id = 'method' in message ? undefined : message.id;
      const request = id === undefined ? undefined : open.get(id);
      write(finished(message, transport.era, (request ?? openRequest(undefined, caller, logger)).ask));
      end(id);
    },
    drain() {
      if (ending) return;
      ending = true;
      input.off('data', lines);
      input.pause();
      if (open.size === 0) transport.onDrained?.();
    },
    async close() {
      if (closed) return;
      closed = true;
      input.off('data', lines);
      input.pause();
      for (const id of [...open.keys()]) end(id, 'cut');
      transport.onclose?.();
    },
  };
  return transport;
}
