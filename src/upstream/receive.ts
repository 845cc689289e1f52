import type { Dispatcher } from 'undici';
import { tooLarge } from './body.ts';
import { type Discard, startDiscard } from './discard.ts';
import type { ReplyHeaders } from './upstream.ts';

export interface ReceiveOptions {
  /**
   * Looks at the head of the answer: whether its body is wanted. What it throws is what `receive` rejects with. In
   * either case what is left of the body is let go of.
   */
  readonly judge: (status: number, headers: ReplyHeaders) => boolean;
  /** Largest body, as it comes. */
  readonly maxBytes: number;
}

/** An answer, whole. */
export interface Received {
  readonly headers: ReplyHeaders;
  /** As it came; `undefined` where it was not wanted. */
  readonly body: Buffer | undefined;
}

/**
 * Sends one GET, and collects what it brings: without a stream, which is dear, and has nothing to give where the whole
 * body is wanted before any of it is read. Rejects with undici's own error where the exchange breaks off, and with the
 * signal's reason at once when it aborts, even if the request still waits for a connection then; that ends the exchange.
 */
export function receive(
  dispatcher: Dispatcher,
  request: { readonly path: string; readonly headers: Record<string, string> },
  { judge, maxBytes }: ReceiveOptions,
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
    const settled = () => signal.removeEventListener('abort', stop);
    signal.addEventListener('abort', stop, { once: true });

    dispatcher.dispatch(
      { method: 'GET', path: request.path, headers: request.headers },
      {
        onRequestStart(controller) {
          exchange = controller;
          if (signal.aborted) controller.abort(signal.reason);
        },
        onResponseStart(controller, status, headers) {
          // Interim (RFC 9110, section 15.2): the answer itself is still to come.
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
            return;
          }
          length += chunk.length;
          // undici ends the exchange with what is thrown here.
          if (length > maxBytes) throw tooLarge();
          chunks.push(chunk);
        },
        onResponseEnd() {
          settled();
          rest?.end();
          const [first] = chunks;
          resolve({ headers: head, body: first?.length === length ? first : Buffer.concat(chunks, length) });
        },
        onResponseError(_controller, error) {
          settled();
          rest?.end();
          reject(error);
        },
      },
    );
  });
}
