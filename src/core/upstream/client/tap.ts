import type { ReplyHeaders } from '../upstream.ts';

/** One request as it is sent. */
export interface TappedRequest {
  readonly upstream: string;
  readonly method: string;
  readonly origin: string;
  /** Absolute path with query. */
  readonly target: string;
  /** Including the credential. */
  readonly headers: Readonly<Record<string, string>>;
  /** JSON; `undefined`: no body is sent. */
  readonly body: string | undefined;
}

/** Receives the response to one request, as far as there is one. */
export interface TappedExchange {
  answered(status: number, headers: ReplyHeaders): void;
  /** The body of a page, decoded. */
  read(body: Buffer): void;
  /** A piece of a body that is not a page, as it arrives; without a piece at its end. */
  rest(chunk?: Buffer): void;
}

/**
 * Receives each exchange with a platform, including credentials and bodies, for `portico check --probe`. Gateways have none, since
 * nothing of this may be logged.
 */
export type Tap = (request: TappedRequest) => TappedExchange;
