import type { Events } from '../../kernel/events.ts';
import { abortConnection } from '../connection/aborted.ts';
import type { HttpRequest } from '../http-request.ts';

export type UnreadResponses = ReturnType<typeof createUnreadResponses>;

/**
 * Bounds the responses that their clients have not read, over all connections. Beyond `maxBytes`, the connections of the oldest
 * ones are closed.
 */
export function createUnreadResponses(maxBytes: number, events: Events) {
  /** The oldest first. */
  const unread = new Map<HttpRequest, number>();
  let total = 0;

  function remove(request: HttpRequest): void {
    total -= unread.get(request) ?? 0;
    unread.delete(request);
  }

  return {
    /** Adds a response that was sent, unless the system has accepted all of it. */
    add(request: HttpRequest): void {
      const { req, res, record } = request;
      if (req.socket.writableLength === 0) return;
      unread.set(request, record.bytes);
      total += record.bytes;
      res.once('close', () => remove(request));
      for (const oldest of unread.keys()) {
        if (total <= maxBytes) break;
        remove(oldest);
        events.limitReached?.({ bound: 'http.maxUnsentBytes' });
        abortConnection(oldest.req.socket, 'response_unread');
      }
    },
  };
}
