/**
 * What replicas hold together: bytes under names. It is trusted with nothing: what it gives may be anything. No call takes
 * longer than the store's own timeout and none rejects: what cannot be had is `undefined`, or `false`.
 */
export interface SharedStore {
  /**
   * What is held under a name, and the generation of that name: what a load brings that begins now may be put as long as
   * this one lasts. `undefined`: the store cannot be asked now.
   */
  look(name: string): Promise<Look | undefined>;
  /**
   * Asks for the lease of a name for `ms` milliseconds: one replica loads at a time. `other`: another has it, or this one under
   * another token. `undefined`: the store cannot be asked now.
   */
  lease(name: string, ms: number): Promise<Lease | 'other' | undefined>;
  /**
   * Holds bytes under a name and gives the lease back, in one step, and only where the generation is still that of the name
   * and the lease, if one is given, still belongs to this token. Whether they are held now, as far as can be told.
   */
  put(name: string, bytes: Buffer, options: PutOptions): Promise<boolean>;
  /** Gives back a lease that led to nothing. One that belongs to another token by now stays. */
  release(name: string, token: string): Promise<void>;
  /**
   * Lets go of what is held under these names and of their leases, begins a new generation of each, so that no load that
   * began earlier is put, and tells all other replicas. Resolves once that is done, or tried again in the background for as
   * long as an older load could be put.
   */
  evict(names: readonly string[]): Promise<void>;
  /**
   * Calls `listener` with names that other replicas have evicted; with `unknown` where some may have been missed, since the
   * connection was lost for too long or the store was emptied. Gives a function that ends this.
   */
  onEvicted(listener: EvictedListener): () => void;
}

export interface Look {
  readonly held: Buffer | undefined;
  /** An opaque text. One that was there before an eviction, or before the store was emptied, never comes again. */
  readonly generation: string;
}

export interface Lease {
  /** Proves that the lease is one's own. No two are the same. */
  readonly token: string;
}

export interface PutOptions {
  /** What {@link SharedStore.look} gave before the load began. */
  readonly generation: string;
  /** Token of the lease under which the load was made; absent where it was made without one. */
  readonly lease?: string | undefined;
  /** How long the bytes are held, in milliseconds; a whole number above 0. */
  readonly ttlMs: number;
}

export type EvictedListener = (names: readonly string[] | 'unknown') => void;
