import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { newRequestId } from '../../kernel/caller.ts';
import { GatewayError } from '../../kernel/errors.ts';
import { type Events, emitLimitReached } from '../../kernel/events.ts';
import { STATUS_CODES } from '../../kernel/node-http.ts';
import { headersFor } from '../http-request.ts';
import { UNKNOWN_PATH } from '../operations/operation.ts';
import { failBody } from '../request/incoming-body.ts';
import type { WholeResponse } from '../response/http-response.ts';
import { problemResponse } from '../response/problem.ts';
import { abortedFor } from './aborted.ts';
import type { ClientConnections, Connection } from './connections.ts';

/** Reported by Node for bytes that are no request. */
interface ParseError extends Error {
  readonly code?: string;
}

const BROKEN_TLS = /^ERR_SSL_/;

/** How long a connection stays open after such a response, so that the client can read it. */
const LINGER_MS = 1000;

/** Answers bytes that do not parse or come too slowly: by a problem, or by closing the connection after earlier requests. */
export function answerClientErrors(server: Server, connections: ClientConnections, events: Events): void {
  function refuse({ socket }: Connection, error: GatewayError): void {
    const startedAt = performance.now();
    const requestId = newRequestId();
    const problem = problemResponse(error, requestId);
    const response = { ...problem, headers: { ...headersFor(requestId), ...problem.headers } };
    emitLimitReached(events, error, { requestId });
    sendOnSocket(socket, response);
    events.requestEnded?.({
      edge: 'http',
      requestId,
      startedAt,
      ms: performance.now() - startedAt,
      route: UNKNOWN_PATH.path,
      status: response.status,
      outcome: error.code,
      bytes: response.body.length,
      error,
    });
  }

  server.on('clientError', (error: ParseError, socket: Socket) => {
    const connection = connections.of(socket);
    // Behind the last response of a connection, or closed by this side.
    if (connection?.isClosing === true || abortedFor(socket) !== undefined) return;
    const { current, waiting = [] } = connection ?? {};
    const last = waiting.at(-1) ?? current;
    // No response can be sent over broken TLS.
    if (BROKEN_TLS.test(error.code ?? '')) socket.destroy();
    // Bytes behind a complete body belong to another request.
    else if (last?.req.complete === false) failBody(last.req, errorFor(error));
    // A client that has gone, or that sent no byte, expects no response.
    else if (connection === undefined || !socket.writable || socket.bytesRead === 0) socket.destroy();
    else {
      connections.end(connection);
      // A response of its own could overtake those of the requests before.
      if (current === undefined) refuse(connection, errorFor(error));
    }
  });
}

/** The socket must be read meanwhile: destroyed with unread bytes it would be reset, and the client could lose the response. */
function sendOnSocket(socket: Socket, { status, headers, body }: WholeResponse): void {
  const framing = { 'Content-Length': body.length, Date: new Date().toUTCString(), Connection: 'close' };
  const lines = Object.entries({ ...headers, ...framing }).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.write(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n`);
  socket.end(body);
  const timer = setTimeout(() => socket.destroy(), LINGER_MS);
  socket.once('close', () => clearTimeout(timer));
}

/** The row of the error table for what the parser refused, or waited for too long. */
function errorFor(error: ParseError): GatewayError {
  switch (error.code) {
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return new GatewayError('request_timeout', { cause: error });
    case 'HPE_HEADER_OVERFLOW':
      return new GatewayError('headers_too_large', { bound: 'http.maxHeaderBytes', cause: error });
    default:
      return new GatewayError('invalid_request', { cause: error });
  }
}
