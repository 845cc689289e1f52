import { get, openConnection } from '../raw-http.ts';

const BATCH = 500;

/** Asks for what is not there, this often (in whole batches), over one connection: each makes a line in the log. */
export async function sendMany(port: number, requests: number): Promise<void> {
  const { send, receive, socket } = openConnection(`http://127.0.0.1:${port}`);
  for (let sent = 0; sent < requests; sent += BATCH) {
    send(get('/nowhere').repeat(BATCH));
    for (let received = 0; received < BATCH; received += 1) await receive();
  }
  socket.destroy();
}
