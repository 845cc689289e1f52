import type { Caller } from '../kernel/caller.ts';
import type { GatewayError } from '../kernel/errors.ts';

export interface Post {
  /** JSON; `undefined`: no body is sent. */
  readonly body: string | undefined;
  /** Settings say that it changes nothing. */
  readonly isRepeatable: boolean;
}

export interface PageTarget {
  /** Path with query, including the base path. */
  readonly target: string;
  readonly post?: Post | undefined;
}

/** Times of one load, which its pages share: in milliseconds by `performance.now()`. */
export interface LoadTiming {
  readonly dueAt: number;
  /** When its first page left the queue. */
  startedAt?: number | undefined;
  /** Set by the queue. Called with the load once it has its list. */
  onLoaded?: ((load: LoadTiming) => void) | undefined;
}

/** A request for one page. */
export interface PageRequest<P> extends PageTarget {
  readonly caller: Caller;
  /** Path as in settings, for traces: that of the page may contain secrets. */
  readonly path?: string | undefined;
  readonly load: LoadTiming;
  /** Less than the usual time is left, so that a timeout is no fault of the upstream. @default false */
  readonly isShort?: boolean | undefined;
  /** Names in lower case. Replace headers of the upstream. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Added by `withAuthorization`. */
  readonly authorization?: Readonly<Record<string, string>> | undefined;
  /** Entity tag (RFC 9110, section 13.1.2). */
  readonly ifNoneMatch?: string | undefined;
  /** Returns `undefined` for a response whose body is read. @default that of lists */
  readonly errorOf?: ((status: number, headers: ReplyHeaders) => GatewayError | undefined) | undefined;
  /** Called by the upstream, so that the breaker counts the result. Throws or rejects with `upstream_invalid` if it is no page. */
  readonly read: (bytes: Buffer, headers: ReplyHeaders) => P | Promise<P>;
  /** Called with the length of body bytes that are held or, negative, released. An error that it throws ends the request. */
  readonly hold?: ((bytes: number) => void) | undefined;
}

/** A response with a page. */
export interface Reply<P> {
  /** `undefined`: the page with the entity tag of the request is current (304). */
  readonly page: P | undefined;
  readonly status?: number;
  readonly headers: ReplyHeaders;
}

export type ReplyHeaders = Readonly<Record<string, string | string[] | undefined>>;

/** Each `withX` layer wraps one of these and returns one. */
export interface Upstream {
  /** Its key in settings. */
  readonly name: string;
  /** Rejects with a {@link GatewayError} that names this upstream, or with the signal's reason when it aborts. */
  get<P>(request: PageRequest<P>, signal: AbortSignal): Promise<Reply<P>>;
  close(): Promise<void>;
}

export interface TappedRequest {
  readonly upstream: string;
  readonly method: string;
  readonly origin: string;
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  /** JSON; `undefined`: no body is sent. */
  readonly body: string | undefined;
}

/** Receives the response to one request, as far as there is one. */
interface TappedExchange {
  answered(status: number, headers: ReplyHeaders): void;
  read(body: Buffer): void;
  /** A piece of a body that is not a page; none at its end. */
  rest(chunk?: Buffer): void;
}

/** Tap of `check --probe`, with credentials and bodies: nothing of this may be logged. */
export type Tap = (request: TappedRequest) => TappedExchange;
