import { connect, type Socket } from 'node:net';

export interface WireRequest {
  readonly socket: Socket;
  /** What the connection has carried so far. */
  readonly received: () => string;
  /** What the connection carried until it ended, and the code of the error that ended it, if one did. */
  readonly ended: Promise<{ readonly text: string; readonly error: string | undefined }>;
}

/** Sends one GET by hand, as demo-alice, so that what comes back is seen as it is on the wire. */
export function openRequest(url: string): WireRequest {
  const { host, hostname, port, pathname, search } = new URL(url);
  const socket = connect(Number(port), hostname).setEncoding('latin1');
  socket.write(`GET ${pathname}${search} HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer demo-alice\r\n\r\n`);
  let text = '';
  socket.on('data', (chunk: string) => {
    text += chunk;
  });
  const ended = new Promise<Awaited<WireRequest['ended']>>((resolve) => {
    let error: string | undefined;
    socket.on('error', (cause: NodeJS.ErrnoException) => {
      error = cause.code;
    });
    socket.on('close', () => resolve({ text, error }));
  });
  return { socket, received: () => text, ended };
}
