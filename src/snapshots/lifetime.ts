/** How long snapshots of one resource may be served. */
export interface Lifetime {
  /** How long one is fresh. */
  readonly ttlMs: number;
  /** How long after that it is served at once, while it is refreshed (RFC 5861, section 3). */
  readonly staleWhileRevalidateMs: number;
  /** How long after its freshness it stands in for an upstream that fails (RFC 5861, section 4). */
  readonly staleIfErrorMs: number;
}

/** What a snapshot is good for at some time. */
export type Stage = 'fresh' | 'stale-while-revalidate' | 'stale-if-error' | 'over';

/** End of a snapshot's freshness, in milliseconds since the epoch; never later than `expiresAt`. */
export function freshUntil(loadedAt: number, { ttlMs }: Lifetime, expiresAt = Number.POSITIVE_INFINITY): number {
  return Math.min(loadedAt + ttlMs, expiresAt);
}

/**
 * What a snapshot is good for at `now`, for a caller whose token ends at `expiresAt`. One from the future is good for
 * nothing: the clock was set back, and nobody knows how old it is.
 */
export function stageAt(now: number, loadedAt: number, lifetime: Lifetime, expiresAt?: number): Stage {
  const age = now - loadedAt;
  if (age < 0 || (expiresAt !== undefined && now >= expiresAt)) return 'over';
  if (age < lifetime.ttlMs) return 'fresh';
  if (age < lifetime.ttlMs + lifetime.staleWhileRevalidateMs) return 'stale-while-revalidate';
  return age < lifetime.ttlMs + lifetime.staleIfErrorMs ? 'stale-if-error' : 'over';
}
