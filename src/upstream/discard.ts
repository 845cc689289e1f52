import type { Dispatcher } from 'undici';
import type { ReplyHeaders } from './upstream.ts';

/** How much, and how long, is still read of a body that nobody wants. */
const DISCARD = { maxBytes: 65_536, timeoutMs: 1000 };

/** What becomes of a body that nobody wants. */
export interface Discard {
  take(chunk: Buffer): void;
  /** Call it once the exchange is over, however it ended. */
  end(): void;
}

/** Lets go of a body: what is left of a small one is read, so that its connection can serve again; else it is closed. */
export function startDiscard(exchange: Dispatcher.DispatchController, headers: ReplyHeaders): Discard {
  const close = () => exchange.abort(new Error('nobody wants the rest of the body'));
  const timer = setTimeout(close, DISCARD.timeoutMs).unref();
  let left = DISCARD.maxBytes;
  if (Number(headers['content-length']) > left) close();
  return {
    take(chunk) {
      left -= chunk.length;
      if (left < 0) close();
    },
    end: () => clearTimeout(timer),
  };
}
