import type { Caller } from '../../kernel/caller.ts';
import type { GatewayError } from '../../kernel/errors.ts';
import type { Snapshot } from './snapshot.ts';

/** One whole read of a resource. */
export interface Load {
  readonly snapshot: Snapshot;
  /** Milliseconds spent waiting for the upstream, all pages together. */
  readonly upstreamMs: number;
  readonly pages: number;
  /** Items left out because they could not be mapped (`invalidItems: drop`). */
  readonly dropped: number;
  /** The upstream's own entity tag, where it speaks for the whole list. */
  readonly upstreamEtag?: string;
  /** What its headers said, beside that tag, of how the list goes on. */
  readonly upstreamSaid?: string;
  /** Set where the upstream said that the list is still what it was (304). */
  readonly renewed?: boolean;
  /** Set where it was another read's load that this one waited for. */
  readonly collapsed?: boolean;
  /** Set where it came from the second level: another replica has loaded it, for this very caller. */
  readonly copied?: boolean;
  /** What the cache had to do with it; absent where the resource is not stored. */
  readonly cached?: Cached;
}

/** How the cache came to a load. */
export interface Cached {
  /** The key under which it may be held. */
  readonly key: string;
  /** End of its freshness, in milliseconds since the epoch. */
  readonly freshUntil: number;
  /** Why the upstream was asked, in the words of RFC 9211, section 2.2; absent where it was not. */
  readonly forwarded?: 'miss' | 'stale' | 'request';
  /** Whether what the upstream answered is held now. */
  readonly stored: boolean;
  /** The upstream's error, where this snapshot is served in its place. */
  readonly error?: GatewayError;
}

/** How a read is asked for. */
export interface ReadOptions {
  /** Aborts when nobody waits for the read any more. May be made when it is looked at: what is fresh needs none. */
  readonly signal: AbortSignal;
  /** The caller wants the upstream to be asked (`Cache-Control: no-cache`). @default false */
  readonly noCache?: boolean;
}

/** Reads one resource as `caller` may see it: at once where a held snapshot may be served, and else with a promise. */
export type Read = (caller: Caller, options: ReadOptions) => Load | Promise<Load>;

/** What a load may be told beside who asks. */
export interface LoadOptions {
  /** What is held: the upstream may say that it is still so, in place of sending it again. */
  readonly known?: Load | undefined;
  /** What another replica has loaded will do as well, where it is younger than this, in milliseconds. @default 0, none */
  readonly maxAgeMs?: number;
  /** Nobody waits for it. @default false */
  readonly isRefresh?: boolean;
  /** Takes what was loaded earlier, to be served where the upstream fails. */
  readonly keep?: (copy: Load) => void;
}

/** Loads one resource as `caller` may see it: complete, or an error that names the upstream. */
export type Loader = (caller: Caller, signal: AbortSignal, options?: LoadOptions) => Promise<Load>;

/** What the cache had to do with a load at `now` (milliseconds since the epoch), in one word for logs and metrics. */
export function cacheOutcome({ cached, collapsed, copied }: Load, now: number): string {
  if (collapsed) return 'collapsed';
  if (cached === undefined) return 'bypass';
  const { forwarded, error, freshUntil } = cached;
  if (error !== undefined) return 'stale';
  if (forwarded === undefined && freshUntil <= now) return 'stale';
  if (forwarded === undefined) return copied ? 'shared' : 'hit';
  return forwarded === 'miss' ? 'miss' : 'refreshed';
}
