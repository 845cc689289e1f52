import type { ErrorCode } from '../../kernel/error-table.ts';
import { GatewayError } from '../../kernel/errors.ts';

/** Lifetimes of one resource's snapshots. */
export interface Lifetime {
  /** Freshness. */
  readonly ttlMs: number;
  /** Further time in which it is served while being refreshed (RFC 5861, section 3). */
  readonly staleWhileRevalidateMs: number;
  /** Time after freshness in which it replaces an upstream's error (RFC 5861, section 4). */
  readonly staleIfErrorMs: number;
}

/** What a snapshot may be used for at a time. */
export type Stage = 'fresh' | 'stale-while-revalidate' | 'stale-if-error' | 'over';

/** Returns the end of freshness, in milliseconds since the epoch. */
export function freshUntil(loadedAt: number, { ttlMs }: Lifetime): number {
  return loadedAt + ttlMs;
}

/** Whether a snapshot is young enough to be taken instead of a load. */
export function isRecent(loadedAt: number, maxAgeMs: number, now: number): boolean {
  return now - loadedAt < maxAgeMs;
}

/**
 * Returns the stage of a snapshot at `now`, for a token that ends at `expiresAt`. A snapshot from the future is not
 * used: the clock was set back, and its age is unknown.
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

/** Statuses about the list itself: it is gone, hidden from this caller, or forbidden. */
const GONE: readonly unknown[] = [404, 410, 451];

/**
 * Returns whether a stale snapshot may replace an error. Not for denials (401, 403, 404, 410, 451), and not for errors
 * without an upstream.
 */
export function allowsStale(error: unknown): error is GatewayError {
  return error instanceof GatewayError && STALE_ALLOWED.has(error.code) && !GONE.includes(error.upstreamStatus);
}
