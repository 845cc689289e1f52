/** A response without the headers that every response has. */
export interface HttpResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** One buffer, or several pieces that are sent in order, or a stream; `undefined` where the status allows none (304). */
  readonly body: Buffer | readonly (Buffer | string)[] | StreamBody | undefined;
}

export interface WholeResponse extends HttpResponse {
  readonly body: Buffer;
}

/** Sends a body while it is made. `write` resolves when a piece was accepted, and rejects when the client is gone. */
export type StreamBody = (write: (piece: Buffer) => Promise<void>) => Promise<void>;
