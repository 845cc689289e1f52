import type { ReplyHeaders } from '../upstream.ts';

/** One request, as it goes over the wire. */
export interface TappedRequest {
  readonly upstream: string;
  readonly method: string;
  readonly origin: string;
  /** Absolute path with query. */
  readonly target: string;
  /** The credential among them. */
  readonly headers: Readonly<Record<string, string>>;
  /** JSON, of a POST that has a body. */
  readonly body: string | undefined;
}

/** Told what comes of one request, as far as anything does. */
export interface TappedExchange {
  answered(status: number, headers: ReplyHeaders): void;
  /** The body of a page, decoded. */
  read(body: Buffer): void;
  /** A piece of a body that is no page, as it comes; at its end without one. */
  rest(chunk?: Buffer): void;
}

/**
 * Sees each exchange with a platform as it is, credentials and bodies included. It is for an operator who looks on
 * (`portico check --probe`): what serves has none, since nothing of this may get into a log.
 */
export type Tap = (request: TappedRequest) => TappedExchange;
