import type { Caller } from '../kernel/caller.ts';
import type { GatewayError } from '../kernel/errors.ts';
import type { EnterPhase, LoadClock } from './loading.ts';

/** The POST with which a page is requested. */
export interface Post {
  /** JSON; `undefined`: no body is sent. */
  readonly body: string | undefined;
  /** Whether it may be sent twice because settings say that it changes nothing. */
  readonly isRepeatable: boolean;
}

export interface PageTarget {
  /** Absolute path with query, including the base path. */
  readonly target: string;
  /** `undefined`: the page is requested with GET. */
  readonly post?: Post | undefined;
}

/** A request for one page. */
export interface PageRequest<P> extends PageTarget {
  readonly caller: Caller;
  /** Path as in settings: names the request in traces, where that of the page may contain secrets. */
  readonly path?: string | undefined;
  /** The load that the page belongs to. */
  readonly load: LoadClock;
  /** Called with each phase that the request enters. */
  readonly enter: EnterPhase;
  /** How often the same request was sent before. @default 0 */
  readonly resends?: number | undefined;
  /** Replace headers of the upstream with the same names. Names in lower case. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Credential headers. Added by `withAuthorization`. */
  readonly authorization?: Readonly<Record<string, string>> | undefined;
  /** Entity tag of the upstream's latest page (RFC 9110, section 13.1.2). */
  readonly ifNoneMatch?: string | undefined;
  /** The error for a status; `undefined` for a response whose body is read. @default that of lists */
  readonly errorOf?: ((status: number, headers: ReplyHeaders) => GatewayError | undefined) | undefined;
  /**
   * Parses the body of a 200. Throws or rejects with `upstream_invalid` if it is no page. Called by the upstream, so that the
   * breaker counts the result.
   */
  readonly read: (bytes: Buffer, headers: ReplyHeaders) => P | Promise<P>;
  /**
   * Called with the length of body bytes that are held, and with negative lengths of those released. An error that it throws
   * ends the request.
   */
  readonly hold?: ((bytes: number) => void) | undefined;
}

/** A response with a page. */
export interface Reply<P> {
  /** `undefined`: the page with the entity tag of the request is still current (304). */
  readonly page: P | undefined;
  /** Names in lower case. */
  readonly headers: ReplyHeaders;
}

export type ReplyHeaders = Readonly<Record<string, string | string[] | undefined>>;

/** A remote API. Each `withX` layer wraps one of these and returns one. */
export interface Upstream {
  /** Its key in settings. */
  readonly name: string;
  /**
   * Sends one request. Rejects with a {@link GatewayError} that names this upstream, or with the signal's reason when it
   * aborts.
   */
  get<P>(request: PageRequest<P>, signal: AbortSignal): Promise<Reply<P>>;
  /** Closes idle connections and ends the others. */
  close(): Promise<void>;
}

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

/** Receives each exchange with a platform, with credentials and bodies, for `check --probe`. Nothing of this may be logged. */
export type Tap = (request: TappedRequest) => TappedExchange;
