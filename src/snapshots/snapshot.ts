import type { Coding } from './compress.ts';

/** What a snapshot's bytes are kept in beside themselves: a coding, or `quoted`, as a string within JSON. */
export type Form = Coding | 'quoted';

/** The JSON bytes of one resource as one caller's partition saw it. Immutable. */
export interface Snapshot {
  /** The identity form, UTF-8. */
  readonly bytes: Buffer;
  /** Weak entity tag, one for all codings (RFC 9110, section 8.8.3). */
  readonly etag: string;
  /** Items in the array. */
  readonly count: number;
  /** When the load began, in milliseconds since the epoch. */
  readonly loadedAt: number;
  /** The same bytes in other forms, as far as somebody has asked for them. */
  readonly forms: Readonly<Partial<Record<Form, Buffer>>>;
}
