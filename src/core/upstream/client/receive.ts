import type { Dispatcher } from 'undici';
import type { Post, ReplyHeaders } from '../upstream.ts';
import { tooLarge } from './body.ts';

export interface ReceiveOptions {
  /**
   * Looks at the head of the response, and tells whether its body is needed. What it throws is what `receive` rejects
   * with. What is left of a body that is not needed is read, or its connection closed, whichever costs less.
   */
  readonly judge: (status: number, headers: ReplyHeaders) => boolean;
  /** Largest body, as it comes. */
  readonly maxBytes: number;
  /** Told of bytes of the body as they come. What it throws ends the exchange. */
  readonly hold: (bytes: number) => void;
  /** Told of each piece of a body that is not needed, and without one once no more of it comes. */
  readonly onRest?: ((chunk?: Buffer) => void) | undefined;
}

/** A response, whole. */
export interface Received {
  readonly headers: ReplyHeaders;
  /** As it came; `undefined` where it was not needed. */
  readonly body: Buffer | undefined;
}

/**
 * Sends one request, and collects what it brings: without a stream, which is dear, and has nothing to give where the whole
 * body is needed before any of it is read. Rejects with undici's own error where the exchange breaks off, and with the
 * signal's reason at once when it aborts, even if the request still waits for a connection then; that ends the exchange.
 */
export function receive(
  dispatcher: Dispatcher,
  request: {
    readonly path: string;
    /** What it posts; `undefined`: it is a GET. */
    readonly post?: Post | undefined;
    readonly headers: Record<string, string>;
    /** Whether the connection is to serve no other request. */
    readonly reset: boolean;
  },
  { judge, maxBytes, hold, onRest }: ReceiveOptions,
  signal: AbortSignal,
): Promise<Received> {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    const chunks: Buffer[] = [];
    let length = 0;
    let head: ReplyHeaders = {};
    let exchange: Dispatcher.DispatchController | undefined;
    let rest: Discard | undefined;

    const stop = () => {
      reject(signal.reason);
      exchange?.abort(signal.reason);
    };
    const endRest = () => {
      if (rest === undefined) return;
      rest.end();
      onRest?.();
    };
    const settled = () => signal.removeEventListener('abort', stop);
    signal.addEventListener('abort', stop, { once: true });

    const { path, post, headers: sent, reset } = request;
    dispatcher.dispatch(
      {
        ...(post === undefined ? { method: 'GET' } : { method: 'POST', body: post.body ?? null }),
        path,
        headers: sent,
        ...(reset && { reset }),
      },
      {
        onRequestStart(controller) {
          exchange = controller;
          if (signal.aborted) controller.abort(signal.reason);
        },
        onResponseStart(controller, status, headers) {
          // Interim (RFC 9110, section 15.2): the response itself is still to come.
          if (status < 200) return;
          head = headers;
          try {
            if (judge(status, headers)) return;
            resolve({ headers, body: undefined });
          } catch (error) {
            reject(error);
          }
          settled();
          rest = startDiscard(controller, headers);
        },
        onResponseData(_controller, chunk) {
          if (rest !== undefined) {
            rest.take(chunk);
            onRest?.(chunk);
            return;
          }
          length += chunk.length;
          // undici ends the exchange with what is thrown here.
          if (length > maxBytes) throw tooLarge();
          hold(chunk.length);
          chunks.push(chunk);
        },
        onResponseEnd() {
          settled();
          endRest();
          const [first] = chunks;
          resolve({ headers: head, body: first?.length === length ? first : Buffer.concat(chunks, length) });
        },
        onResponseError(_controller, error) {
          settled();
          endRest();
          reject(error);
        },
      },
    );
  });
}

/** How much, and how long, is still read of a body that is not needed. */
const DISCARD = { maxBytes: 65_536, timeoutMs: 1000 };

/** The reading of a body that is not needed. */
interface Discard {
  take(chunk: Buffer): void;
  /** Call it once the exchange is over, however it ended. */
  end(): void;
}

/** Reads what is left of a small body, so that its connection can serve again; closes the connection of any other. */
function startDiscard(exchange: Dispatcher.DispatchController, headers: ReplyHeaders): Discard {
  const close = () => exchange.abort(new Error('the rest of the body is not needed'));
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
