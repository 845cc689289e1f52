import type { Socket } from 'node:net';
import type { Exchange } from './exchange.ts';

const FIRST_PROBE_MS = 50;
const LONGEST_PAUSE_MS = 1000;

/**
 * Finds out whether a caller that has ended its side still listens. On the wire, a client that hung up and one that
 * has no more to say look alike until something is sent to them. So a caller that waits is sent interim responses
 * (`102`; a client of HTTP/1.1 has to expect them: RFC 9110, section 15.2), and one that is gone resets the
 * connection. They begin late enough for an answer that is at hand to need none.
 */
export function watchHalfClosed(socket: Socket, exchanges: ReadonlySet<Exchange>): void {
  let pauseMs = FIRST_PROBE_MS;
  let timer = setTimeout(probe, pauseMs);
  socket.once('close', () => clearTimeout(timer));

  function probe(): void {
    const [current] = exchanges;
    if (current === undefined) return;
    if (!current.res.headersSent && current.req.httpVersion === '1.1') current.res.writeProcessing();
    pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS);
    timer = setTimeout(probe, pauseMs);
  }
}
