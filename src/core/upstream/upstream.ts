import type { Caller } from '../kernel/caller.ts';
import type { GatewayError } from '../kernel/errors.ts';

/** How a page is asked for where the platform wants a POST. */
export interface Post {
  /** JSON; `undefined` where there is no body. */
  readonly body: string | undefined;
  /** Whether it may be sent twice: settings say that it changes nothing. */
  readonly isRepeatable: boolean;
}

/** What a page is asked for by. */
export interface PageTarget {
  /** Absolute path with query, the base path included. */
  readonly target: string;
  /** `undefined`: with a GET. */
  readonly post?: Post | undefined;
}

/** One page that an upstream is asked for. */
export interface PageRequest<P> extends PageTarget {
  /** Who asks. */
  readonly caller: Caller;
  /** Path as settings have it: names the request in traces, where that of the page may hold what nobody else is to see. */
  readonly path?: string | undefined;
  /** How often the same was sent before. @default 0 */
  readonly resends?: number | undefined;
  /** Sent beside the headers of the upstream, and in place of those of the same name. Names in lower case. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Headers that tell the upstream who asks. `withAuthorization` puts them here; whoever asks for a page does not. */
  readonly authorization?: Readonly<Record<string, string>> | undefined;
  /** An entity tag of the upstream's own that the page may still have (RFC 9110, section 13.1.2). */
  readonly ifNoneMatch?: string | undefined;
  /**
   * The error that the status of a response stands for; `undefined` for one whose body is read. Left out where a list is
   * asked for: the upstream knows those.
   */
  readonly errorOf?: ((status: number, headers: ReplyHeaders) => GatewayError | undefined) | undefined;
  /**
   * Makes the page out of the body of a 200, decompressed, within `maxPageBytes`. Throws or rejects with
   * `upstream_invalid` where that is no page; since it is called by the upstream, a breaker hears of it.
   */
  readonly read: (bytes: Buffer, headers: ReplyHeaders) => P | Promise<P>;
  /**
   * Told of bytes of the body as they come and as they are decoded, and, as a number below 0, of those that are let go of.
   * The decoded body of a page that comes of it stays told of. What it throws at bytes that come ends the request.
   */
  readonly hold?: ((bytes: number) => void) | undefined;
}

/** One page that came. */
export interface Reply<P> {
  /** `undefined` where it is still what its entity tag was asked about (304). */
  readonly page: P | undefined;
  /** Names in lower case, as undici gives them. */
  readonly headers: ReplyHeaders;
}

export type ReplyHeaders = Readonly<Record<string, string | string[] | undefined>>;

/** A remote API that Portico calls. */
export interface Upstream {
  /** As settings call it. */
  readonly name: string;
  /**
   * Sends one request for this caller, and reads what it brings. Rejects with a {@link GatewayError} that names this
   * upstream, or with the signal's reason once it aborts.
   */
  get<P>(request: PageRequest<P>, signal: AbortSignal): Promise<Reply<P>>;
  /** Closes idle connections and ends the others. */
  close(): Promise<void>;
}
