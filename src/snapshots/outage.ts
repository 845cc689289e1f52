import { type ErrorCode, GatewayError } from '../kernel/errors.ts';

const OUTAGES: ReadonlySet<ErrorCode> = new Set([
  'upstream_failed',
  'upstream_invalid',
  'upstream_rate_limited',
  'upstream_timeout',
  'breaker_open',
  'overloaded',
]);

/** Statuses that speak of the list itself: it is gone, or hidden from this caller. */
const GONE: readonly unknown[] = [404, 410];

/**
 * Whether an upstream failed in a way that says nothing about what the caller may see, so that a stale snapshot may
 * stand in. Not so: whatever denies the caller or the list (401, 403, 404, 410), and what is no upstream's doing.
 */
export function isOutage(error: unknown): error is GatewayError {
  return error instanceof GatewayError && OUTAGES.has(error.code) && !GONE.includes(error.upstreamStatus);
}
