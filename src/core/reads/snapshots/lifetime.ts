import type { ErrorCode } from '../../kernel/error-table.ts';
import { GatewayError } from '../../kernel/errors.ts';

/** How long snapshots of one resource may be served. */
export interface Lifetime {
  /** How long one is fresh. */
  readonly ttlMs: number;
  /** How long after that it is served at once, while it is refreshed (RFC 5861, section 3). */
  readonly staleWhileRevalidateMs: number;
  /** How long after its freshness it is served in place of an upstream's error (RFC 5861, section 4). */
  readonly staleIfErrorMs: number;
}

/** What a snapshot is good for at some time. */
export type Stage = 'fresh' | 'stale-while-revalidate' | 'stale-if-error' | 'over';

/** End of a snapshot's freshness, in milliseconds since the epoch. */
export function freshUntil(loadedAt: number, { ttlMs }: Lifetime): number {
  return loadedAt + ttlMs;
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

const STALE_ALLOWED: ReadonlySet<ErrorCode> = new Set([
  'upstream_refused',
  'upstream_failed',
  'upstream_invalid',
  'upstream_rate_limited',
  'upstream_timeout',
  'breaker_open',
  'overloaded',
]);

/** Statuses that speak of the list itself: it is gone, hidden from this caller, or must not be shown. */
const GONE: readonly unknown[] = [404, 410, 451];

/**
 * Whether an error says nothing about what the caller may see, so that a stale snapshot may be served in its place. Not
 * so: what denies the caller the list (401, 403, 404, 410, 451), and errors that come from no upstream.
 */
export function allowsStale(error: unknown): error is GatewayError {
  return error instanceof GatewayError && STALE_ALLOWED.has(error.code) && !GONE.includes(error.upstreamStatus);
}
