import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { Answer } from './answer.ts';
import { SECURITY_HEADERS } from './security-headers.ts';

/** How long a connection stays after its last answer, for the client to read that. */
const LINGER_MS = 1000;

/**
 * Writes a whole answer on a bare socket, where there is no request that Node could parse, and ends the connection.
 * What still arrives meanwhile goes to whoever reads the socket: destroyed with bytes unread, the connection would be
 * reset, and the client might never see the answer.
 */
export function writeRawAnswer(socket: Socket, { status, headers, body }: Answer, requestId: string): void {
  const fields = Object.entries({
    ...SECURITY_HEADERS,
    'X-Request-Id': requestId,
    ...headers,
    'Content-Length': body.length,
    Date: new Date().toUTCString(),
    Connection: 'close',
  });
  const head = [`HTTP/1.1 ${status} ${STATUS_CODES[status]}`, ...fields.map(([name, value]) => `${name}: ${value}`)];
  socket.end(Buffer.concat([Buffer.from(`${head.join('\r\n')}\r\n\r\n`, 'latin1'), body]));
  const timer = setTimeout(() => socket.destroy(), LINGER_MS);
  socket.once('close', () => clearTimeout(timer));
}
