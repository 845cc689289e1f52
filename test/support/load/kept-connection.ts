import type { RawResponse } from '../platform/raw-response.ts';
import { openConnection } from '../raw-http.ts';

/** How a request ended: with a whole response, or with the connection, after so many bytes of one. */
interface Ending {
  readonly response: RawResponse | undefined;
  readonly bytes: number;
}

export type KeptConnection = ReturnType<typeof openKeptConnection>;

/** Longest that a response may take, whatever the upstreams do. Far longer than any deadline in the settings of a load. */
const PATIENCE_MS = 20_000;

/**
 * One connection that is kept, for one request at a time, with nothing done behind one's back. `onMistake` is called for a
 * missing response, and for bytes that belong to no response.
 */
export function openKeptConnection(url: string, onMistake: (mistake: string) => void) {
  const connection = openConnection(url);
  const { socket } = connection;
  let open = true;
  let answered = false;
  let waiting = false;

  socket.setTimeout(PATIENCE_MS, () => {
    if (waiting) onMistake('no response');
    socket.destroy();
  });
  socket.on('close', () => {
    open = false;
  });

  return {
    /** Whether another request may be sent. */
    get open() {
      return open;
    },
    /** Whether a response has come over it: the server has accepted it, then. */
    get answered() {
      return answered;
    },
    async send(request: string): Promise<Ending> {
      if (connection.arrived().length > 0) onMistake('a response to no request');
      waiting = true;
      connection.send(request);
      const response = await connection.receive().catch(() => undefined);
      waiting = false;
      const bytes = connection.unfinished().length;
      if (response !== undefined) {
        answered = true;
        if (response.headers.get('connection') === 'close') open = false;
        if (bytes > 0) onMistake('bytes that belong to no response');
      }
      return { response, bytes };
    },
    hangUp() {
      open = false;
      socket.destroy();
    },
  };
}
