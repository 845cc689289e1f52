import type { IncomingMessage } from 'node:http';

/** How long an answer waits for a body that nobody wants to arrive. */
const PATIENCE_MS = 1000;

/** Whether a request has a body (RFC 9112, section 6.3). `Content-Length: 0` announces none. */
export function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) !== 0;
}

/**
 * Reads a body away, for a second at most. A connection that is closed while bytes lie unread in it is reset, and then
 * the client may never see the answer. A client that waits for `100` before it sends has nothing on its way.
 */
export function discardBody(req: IncomingMessage): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  if (req.headers.expect !== undefined) {
    resolve();
  } else {
    const timer = setTimeout(resolve, PATIENCE_MS);
    req.once('close', () => {
      clearTimeout(timer);
      resolve();
    });
    req.resume();
  }
  return promise;
}
