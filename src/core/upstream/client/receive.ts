import type { Dispatcher } from 'undici';
import type { Post, ReplyHeaders } from '../upstream.ts';
import { tooLarge } from './body.ts';

export interface ReceiveOptions {
  /**
   * Judges the head of the response: returns whether its body is needed, or throws what `receive` then rejects with. A body
   * that is not needed is read to its end so that the connection can serve again, unless closing it costs less.
   */
  readonly judge: (status: number, headers: ReplyHeaders) => boolean;
  /** Largest body, in bytes as they arrive. */
  readonly maxBytes: number;
  /** Called with the length of each piece of a body that is needed. What it throws ends the exchange. */
  readonly hold: (bytes: number) => void;
  /** Called with each piece of a body that is not needed, and without one at its end. */
  readonly onRest?: ((chunk?: Buffer) => void) | undefined;
}

/** A complete response. */
export interface Received {
  readonly headers: ReplyHeaders;
  /** As it arrived; `undefined` if it was not needed. */
  readonly body: Buffer | undefined;
}

/** How much of a body that is not needed is read, and for how long. */
const REST = { maxBytes: 65_536, timeoutMs: 250 };
const NOT_NEEDED = new Error('the rest of the body is not needed');

/**
 * Sends one request and collects its response, without a stream: the whole body is needed before any of it is read. Rejects
 * with undici's own error if the exchange breaks off, and with the signal's reason when it aborts, also while the request
 * still waits for a connection.
 */
export function receive(
  dispatcher: Dispatcher,
  request: {
    readonly path: string;
    /** `undefined`: the request is a GET. */
    readonly post?: Post | undefined;
    readonly headers: Record<string, string>;
    /** Whether the connection must serve no other request. */
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
    /** Settles the promise of a response whose body is not needed. */
    let settleEarly: (() => void) | undefined;
    let restTimer: NodeJS.Timeout | undefined;

    const stop = () => {
      if (exchange === undefined) reject(signal.reason);
      else exchange.abort(signal.reason);
    };
    const end = (settle: () => void) => {
      signal.removeEventListener('abort', stop);
      clearTimeout(restTimer);
      if (settleEarly !== undefined) onRest?.();
      (settleEarly ?? settle)();
    };
    const judged = (status: number, headers: ReplyHeaders) => {
      try {
        return judge(status, headers) ? undefined : () => resolve({ headers, body: undefined });
      } catch (error) {
        return () => reject(error);
      }
    };
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
          // Interim (RFC 9110, section 15.2): the response itself follows.
          if (status < 200) return;
          head = headers;
          settleEarly = judged(status, headers);
          if (settleEarly === undefined) return;
          restTimer = setTimeout(() => controller.abort(NOT_NEEDED), REST.timeoutMs);
          if (Number(headers['content-length']) > REST.maxBytes) controller.abort(NOT_NEEDED);
        },
        onResponseData(controller, chunk) {
          length += chunk.length;
          if (settleEarly !== undefined) {
            onRest?.(chunk);
            if (length > REST.maxBytes) controller.abort(NOT_NEEDED);
            return;
          }
          // undici ends the exchange with what is thrown here.
          if (length > maxBytes) throw tooLarge();
          hold(chunk.length);
          chunks.push(chunk);
        },
        onResponseEnd() {
          const [first] = chunks;
          const body = first?.length === length ? first : Buffer.concat(chunks, length);
          end(() => resolve({ headers: head, body }));
        },
        onResponseError(_controller, error) {
          end(() => reject(error));
        },
      },
    );
  });
}
