import type { Caller } from '../../kernel/caller.ts';
import type { GatewayError } from '../../kernel/errors.ts';
import type { Snapshot } from './snapshot.ts';

/** A complete read of one resource. */
export interface Load {
  readonly snapshot: Snapshot;
  /** Milliseconds spent waiting for the upstream, all pages together. */
  readonly upstreamMs: number;
  readonly pages: number;
  /** Items excluded by `where`. */
  readonly excluded: number;
  /** Items dropped because they could not be mapped (`invalidItems: drop`). */
  readonly dropped: number;
  /** The upstream's entity tag, if it covers the whole list. */
  readonly upstreamEtag?: string;
  /** The headers' signs of more items. */
  readonly upstreamSaid?: string;
  /** Set when the upstream answered 304. */
  readonly renewed?: boolean;
  /** Set when this read joined another one's load. */
  readonly collapsed?: boolean;
  /** Set when another replica had loaded it for this caller. */
  readonly copied?: boolean;
  /** Code of the error of the last refresh, set when it is served stale while being refreshed again. */
  readonly refreshError?: string;
  /** Outcome of the cache; absent for resources that are not stored. */
  readonly cached?: Cached;
}

/** How the cache obtained a load. */
export interface Cached {
  /** Key in the cache. */
  readonly key: string;
  /** End of freshness, in milliseconds since the epoch. */
  readonly freshUntil: number;
  /** Reason for calling the upstream (RFC 9211, section 2.2); absent without a call. */
  readonly forwarded?: 'miss' | 'stale' | 'request';
  /** Whether the upstream's reply is stored. */
  readonly stored: boolean;
  /** The upstream's error that this snapshot replaces. */
  readonly error?: GatewayError;
}

/** Options of a read. */
export interface ReadOptions {
  /** Aborts when the reader has left. May be created on access: a fresh snapshot needs none. */
  readonly signal: AbortSignal;
  /** Calls the upstream (`Cache-Control: no-cache`). @default false */
  readonly noCache?: boolean;
}

/** Reads one resource for `caller`. */
export type Read = (caller: Caller, options: ReadOptions) => Promise<Load>;

/** Options of a load. */
export interface LoadOptions {
  /** The stored load, which the upstream may confirm instead of sending it again. */
  readonly known?: Load | undefined;
  /** Accepts another replica's load that is younger than this, in milliseconds. @default 0, none */
  readonly maxAgeMs?: number;
  /** A background refresh. @default false */
  readonly isRefresh?: boolean;
  /** Called with an earlier load, to be served if the upstream fails. */
  readonly keep?: (copy: Load) => void;
}

/** Loads one resource for `caller`: complete, or an error that names the upstream. */
export type Loader = (caller: Caller, signal: AbortSignal, options?: LoadOptions) => Promise<Load>;
