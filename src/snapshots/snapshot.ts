/** The JSON bytes of one resource as one caller's partition saw it. Immutable. */
export interface Snapshot {
  /** UTF-8, in no coding. */
  readonly bytes: Buffer;
  /** Weak entity tag, one for all codings (RFC 9110, section 8.8.3). */
  readonly etag: string;
  /** Items in the array. */
  readonly count: number;
  /** Where each item begins in `bytes`. One comma, or the bracket that ends the array, follows each item. */
  readonly itemStarts: Uint32Array;
  /** When the load began, in milliseconds since the epoch. */
  readonly loadedAt: number;
  /** What was made of the bytes, as far as somebody has asked for it: by the names of `representations.ts`. */
  readonly representations: Readonly<Record<string, Buffer>>;
}
