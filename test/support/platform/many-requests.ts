import { once } from 'node:events';
import { connect } from 'node:net';

const BATCH = 500;

/**
 * Asks for what is not there, this often (in whole batches), over one connection: each makes a line in the log. Sends a
 * batch at a time and waits for its responses.
 */
export async function sendMany(port: number, requests: number): Promise<void> {
  const socket = connect(port, '127.0.0.1').setEncoding('latin1');
  await once(socket, 'connect');
  const request = `GET /nowhere HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n`;
  for (let sent = 0; sent < requests; sent += BATCH) {
    let text = '';
    const answered = new Promise<void>((resolve) => {
      socket.on('data', function count(chunk: string) {
        text += chunk;
        if (text.split('HTTP/1.1 404').length <= BATCH) return;
        socket.off('data', count);
        resolve();
      });
    });
    socket.write(request.repeat(BATCH));
    await answered;
  }
  socket.destroy();
}
