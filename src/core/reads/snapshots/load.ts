import type { Caller } from '../../kernel/caller.ts';
import type { GatewayError } from '../../kernel/errors.ts';
import type { Snapshot } from './snapshot.ts';

/** A complete read of one resource. */
export interface Load {
  readonly snapshot: Snapshot;
  /** Time waiting for the upstream, all pages together. */
  readonly upstreamMs: number;
  readonly pages: number;
  readonly excluded: number;
  readonly dropped: number;
  readonly upstreamEtag?: string;
  readonly notModified?: boolean;
  readonly collapsed?: boolean;
  readonly fromSharedCache?: boolean;
  /** Code of the last refresh's error, when it is served stale while being refreshed again. */
  readonly refreshError?: string;
  /** Absent for resources that are not stored. */
  readonly cached?: Cached;
}

/** How the cache obtained a load. */
export interface Cached {
  readonly key: string;
  /** End of freshness, in milliseconds since the epoch. */
  readonly freshUntil: number;
  /** Absent without a call (RFC 9211, section 2.2). */
  readonly forwarded?: 'miss' | 'stale' | 'request';
  readonly stored: boolean;
  readonly error?: GatewayError;
}

export interface ReadOptions {
  /** May be created on access: a fresh snapshot needs none. */
  readonly signal: AbortSignal;
  /** Calls the upstream (`Cache-Control: no-cache`). @default false */
  readonly noCache?: boolean;
  /** Stores nothing that is loaded for this read (`Cache-Control: no-store`; RFC 9111, section 5.2.1.5). @default false */
  readonly noStore?: boolean;
}

/** Reads one resource for `caller`. */
export type Read = (caller: Caller, options: ReadOptions) => Promise<Load>;

export interface LoadOptions {
  /** The stored load, which the upstream may confirm instead. */
  readonly previous?: Load | undefined;
  /** Accepts another replica's load of less than this age. @default 0, none */
  readonly maxAgeMs?: number;
  /** The result is not stored, here or elsewhere. @default false */
  readonly noStore?: boolean;
  /** Deadline of the read that this load is a part of, by `performance.now()`. @default its own */
  readonly dueAt?: number;
  /** A background refresh. @default false */
  readonly isRefresh?: boolean;
  /** Called with an earlier load, to be served if the upstream fails. */
  readonly keep?: (copy: Load) => void;
}

/** Rejects with an error that names the upstream. */
export type Loader = (caller: Caller, signal: AbortSignal, options?: LoadOptions) => Promise<Load>;
