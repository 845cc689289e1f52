import type { Events } from '../../kernel/events.ts';
import { abortConnection } from '../connection/aborted.ts';
import type { HttpRequest } from '../http-request.ts';

/** The system accepts a smaller response at once. */
const MIN_BYTES = 16_384;

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

  return function add(request: HttpRequest): void {
    const { bytes } = request.record;
    if (bytes < MIN_BYTES || request.isGone) return;
    unread.set(request, bytes);
    total += bytes;
    request.onClose.push(() => remove(request));
    for (const oldest of unread.keys()) {
      if (total <= maxBytes) break;
      remove(oldest);
      events.limitReached?.({ bound: 'http.maxUnsentBytes' });
      abortConnection(oldest.req.socket, 'response_unread');
    }
  };
}
