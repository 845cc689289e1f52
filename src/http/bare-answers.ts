import { randomUUID } from 'node:crypto';
import type { IncomingMessage, Server } from 'node:http';
import type { Socket } from 'node:net';
import { GatewayError } from '../kernel/errors.ts';
import { causesOf } from '../observability/causes.ts';
import type { Logger } from '../observability/logger.ts';
import { logAccess } from './access-log.ts';
import type { Connection, Connections } from './connections.ts';
import { describeParseError, type ParseError } from './parse-error.ts';
import { problemAnswer } from './problem.ts';
import { writeRawAnswer } from './raw-answer.ts';

/** Answers what Node makes no request of: bytes that do not parse or come too slowly, and `CONNECT`. */
export function answerBareSockets(server: Server, connections: Connections, logger: Logger): void {
  function refuse(connection: Connection, error: GatewayError, method?: string): void {
    const requestId = randomUUID();
    const answer = problemAnswer(error, requestId);
    connection.ending = true;
    connections.whenIdle(connection, () => {
      // The answer before this one may have ended the connection.
      if (!connection.socket.writable) return;
      writeRawAnswer(connection.socket, answer, requestId);
      logAccess(logger, {
        method,
        route: 'unmatched',
        status: answer.status,
        outcome: error.code,
        bytes: answer.body.length,
        requestId,
        causes: error.cause === undefined ? undefined : causesOf(error),
      });
    });
  }

  server.on('clientError', (error: ParseError, socket: Socket) => {
    const connection = connections.of(socket);
    // Within a body, or after the last answer: no `GET` may have the one, and nobody waits for more after the other.
    if (connection?.ending === true) return;
    // What does not parse behind a body that is whole is another request, and none of the reader's business.
    const last = [...(connection?.exchanges ?? [])].at(-1);
    if (last?.onBodyError !== undefined && !last.req.complete) return last.onBodyError(describeParseError(error));
    // Whoever never sent a byte, or is gone, asked nothing.
    if (connection === undefined || !socket.writable || socket.bytesRead === 0) socket.destroy();
    else refuse(connection, describeParseError(error));
  });

  server.on('connect', ({ method, socket }: IncomingMessage) => {
    // Node has let go of the socket: its errors are ours now, and nobody reads it.
    socket.on('error', () => socket.destroy());
    socket.resume();
    const connection = connections.of(socket);
    if (connection !== undefined) refuse(connection, new GatewayError('method_not_allowed'), method);
  });
}
