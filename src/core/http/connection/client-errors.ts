import type { IncomingMessage, Server } from 'node:http';
import type { Socket } from 'node:net';
import { newRequestId } from '../../kernel/caller.ts';
import { GatewayError } from '../../kernel/errors.ts';
import { type Events, emitLimitReached } from '../../kernel/events.ts';
import type { PipelinedConnection } from '../exchange.ts';
import { UNKNOWN_PATH } from '../operations/operation.ts';
import { problemResponse } from '../response/problem.ts';
import { sendOnSocket } from '../response/send.ts';
import type { Connections } from './connections.ts';

/** Reported by Node for bytes that are no request. */
export interface ParseError extends Error {
  readonly code?: string;
  /** The chunk in which parsing ended; earlier ones are gone. */
  readonly rawPacket?: Buffer;
  readonly bytesParsed?: number;
}

/** A first line that has not ended. */
const REQUEST_LINE = /^[A-Z-]+ [^\s]*$/;

const BROKEN_TLS = /^ERR_SSL_/;

export interface ClientErrorsOptions {
  readonly connections: Connections;
  readonly events: Events;
  readonly headers: readonly string[] | undefined;
}

/** Answers bytes that do not parse or come too slowly, and `CONNECT`. */
export function answerClientErrors(server: Server, { connections, events, headers = [] }: ClientErrorsOptions): void {
  function refuse(connection: PipelinedConnection, error: GatewayError, method?: string): void {
    const begun = performance.now();
    const requestId = newRequestId();
    const problem = problemResponse(error, requestId);
    const response = { ...problem, headers: [...headers, ...problem.headers] };
    connection.ending = true;
    emitLimitReached(events, error, { requestId });
    connections.whenIdle(connection, () => {
      // The response before this one may have ended the connection.
      if (!connection.socket.writable) return;
      sendOnSocket(connection.socket, response, requestId);
      events.requestEnded?.({
        edge: 'http',
        requestId,
        begun,
        ms: performance.now() - begun,
        method,
        route: UNKNOWN_PATH.path,
        status: response.status,
        outcome: error.code,
        bytes: response.body.length,
        error,
      });
    });
  }

  server.on('clientError', (error: ParseError, socket: Socket) => {
    const connection = connections.of(socket);
    // Behind the last response of a connection, or in a body that is not read: ignored.
    if (connection?.ending === true) return;
    const newest = connection?.exchanges.at(-1);
    // No response can be sent over broken TLS.
    if (BROKEN_TLS.test(error.code ?? '')) socket.destroy();
    // Bytes behind a complete body belong to another request.
    else if (newest?.hasBody && !newest.req.complete) newest.failBody(errorFor(error));
    // A client that has gone, or that sent no byte, expects no response.
    else if (connection === undefined || !socket.writable || socket.bytesRead === 0) socket.destroy();
    else refuse(connection, errorFor(error));
  });

  server.on('connect', ({ method, socket }: IncomingMessage) => {
    // Node has removed its listeners: without these, an error would end the process, and nothing would be read.
    socket.on('error', () => socket.destroy());
    socket.resume();
    const connection = connections.of(socket);
    if (connection !== undefined) refuse(connection, new GatewayError('method_not_allowed'), method);
  });
}

/** The row of the error table for what the parser refused, or waited for too long. */
export function errorFor(error: ParseError): GatewayError {
  switch (error.code) {
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return new GatewayError('request_timeout', { cause: error });
    case 'HPE_HEADER_OVERFLOW':
      return endsInTarget(error)
        ? new GatewayError('uri_too_long', { bound: 'http.maxUrlBytes', cause: error })
        : new GatewayError('headers_too_large', { bound: 'http.maxHeaderBytes', cause: error });
    default:
      return new GatewayError('invalid_request', { cause: error });
  }
}

/** The parser counts target and headers together. If the chunk does not show which it was, it was the headers. */
function endsInTarget({ rawPacket, bytesParsed }: ParseError): boolean {
  const parsed = rawPacket?.toString('latin1', 0, bytesParsed) ?? '';
  return REQUEST_LINE.test(parsed.slice(parsed.lastIndexOf('\n') + 1));
}
