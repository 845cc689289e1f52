import type { Caller, Credential } from '../kernel/caller.ts';

/** One page that an upstream is asked for. */
export interface PageRequest<P> {
  /** Absolute path with query, the base path included. */
  readonly target: string;
  /** Whose credential is sent. */
  readonly caller: Caller;
  /** An entity tag of the upstream's own that the page may still have (RFC 9110, section 13.1.2). */
  readonly ifNoneMatch?: string | undefined;
  /**
   * Makes the page out of the body of a 200, decompressed, valid UTF-8, within `maxPageBytes`. Throws
   * `upstream_invalid` where that is no page; since it is called by the upstream, a breaker hears of it.
   */
  readonly read: (text: string) => P;
}

/** One answered page. */
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
   * Sends one GET with the caller's credential, and reads what it brings. Rejects with a {@link GatewayError} that
   * names this upstream, or with the signal's reason once it aborts.
   */
  get<P>(request: PageRequest<P>, signal: AbortSignal): Promise<Reply<P>>;
  /** Closes idle connections and ends the others. */
  close(): Promise<void>;
}

/** What an upstream is given to know the caller. */
export interface Presenter {
  /** Whether it is the caller's own token: then a refusal is the caller's business (401, 403), else Portico's (502). */
  readonly callersOwn: boolean;
  headers(credential: Credential): Readonly<Record<string, string>>;
}
