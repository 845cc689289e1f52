/** Credentials that upstreams have rejected, as several processes share them. */
export interface RejectionStore {
  /**
   * The rejections by upstreams that are called in the same way. `calledAs` is the text of everything that a rejection depends
   * on, except the credential: settings and version.
   */
  of(calledAs: string): UpstreamRejections;
}

export interface UpstreamRejections {
  /** Announces that the upstream has just rejected the credential of the caller with this key. Never throws. */
  announce(callerKey: string): void;
  /**
   * Calls `listener` with each rejection that another process announces, unless it is `ttlMs` old. Returns a function that ends
   * the subscription.
   */
  subscribe(ttlMs: number, listener: RejectionListener): () => void;
}

export type RejectionListener = (callerKey: string, ageMs: number) => void;

/** The store of a process that shares nothing. */
export const NO_REJECTION_STORE: RejectionStore = {
  of: () => ({ announce() {}, subscribe: () => () => {} }),
};
