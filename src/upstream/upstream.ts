import type { Caller, Credential } from '../kernel/caller.ts';

/** One answered page: status 200, decompressed, valid UTF-8, within `maxPageBytes`. Not yet parsed. */
export interface Reply {
  readonly text: string;
  /** Names in lower case, as undici gives them. */
  readonly headers: ReplyHeaders;
  /** Set where the page is still what its entity tag was asked about (304); there is no text then. */
  readonly notModified?: boolean;
}

export type ReplyHeaders = Readonly<Record<string, string | string[] | undefined>>;

/** A remote API that Portico calls. */
export interface Upstream {
  /** As settings call it. */
  readonly name: string;
  /**
   * Sends one GET with the caller's credential. `target` is an absolute path with query, the base path included.
   * `ifNoneMatch` is an entity tag of its own that the page may still have (RFC 9110, section 13.1.2).
   * Rejects with a {@link GatewayError} that names this upstream, or with the signal's reason once it aborts.
   */
  get(target: string, caller: Caller, signal: AbortSignal, ifNoneMatch?: string): Promise<Reply>;
  /** Closes idle connections and ends the others. */
  close(): Promise<void>;
}

/** What an upstream is given to know the caller. */
export interface Presenter {
  /** Whether it is the caller's own token: then a refusal is the caller's business (401, 403), else Portico's (502). */
  readonly callersOwn: boolean;
  headers(credential: Credential): Readonly<Record<string, string>>;
}
