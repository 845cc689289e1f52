import type { Lifetime } from '../../../core/reads/snapshots/lifetime.ts';

/** How far clocks of two replicas may be apart: what was loaded that far in the future was loaded now. */
export const MAX_CLOCK_SKEW_MS = 1000;

/** When a copy was loaded, by the clock of whoever looks at it; `undefined` where that clock is too far from the other's. */
export function loadedBy(loadedAt: number, now: number): number | undefined {
  return loadedAt > now + MAX_CLOCK_SKEW_MS ? undefined : Math.min(loadedAt, now);
}

/** Whether a copy of that age will do in place of a load. */
export function isRecent(loadedAt: number, maxAgeMs: number, now: number): boolean {
  return now - loadedAt < maxAgeMs;
}

/** When what was loaded serves nobody any more, in milliseconds since the epoch. */
export function endOf(loadedAt: number, lifetime: Lifetime, expiresAt = Number.POSITIVE_INFINITY): number {
  const { ttlMs, staleWhileRevalidateMs, staleIfErrorMs } = lifetime;
  return Math.min(loadedAt + ttlMs + Math.max(staleWhileRevalidateMs, staleIfErrorMs), expiresAt);
}

/** Where a read stands that has found nothing to take. */
export interface Standing {
  /** Who has the lease, as far as it was asked for. */
  readonly lease: 'unasked' | 'ours' | 'other';
  /** How long it has waited for another replica's load, in milliseconds. */
  readonly waitedMs: number;
  /** How long it would. */
  readonly patienceMs: number;
}

/** What such a read does next: it asks for the lease, waits a little and asks again, or loads. */
export function nextStep({ lease, waitedMs, patienceMs }: Standing): 'ask' | 'wait' | 'load' {
  if (lease === 'unasked') return 'ask';
  return lease === 'ours' || waitedMs >= patienceMs ? 'load' : 'wait';
}

const FIRST_PAUSE_MS = 10;
const LONGEST_PAUSE_MS = 100;
/** Of the patience: whoever has much of it asks less often. */
const LONGEST_PAUSE_SHARE = 1 / 20;

/** How long to wait before asking again: half of what was waited so far, so that few questions are asked and little is lost. */
export function pauseMs({ waitedMs, patienceMs }: Standing): number {
  const longest = Math.max(LONGEST_PAUSE_MS, patienceMs * LONGEST_PAUSE_SHARE);
  const pause = Math.min(longest, Math.max(FIRST_PAUSE_MS, waitedMs / 2));
  return Math.min(pause, patienceMs - waitedMs);
}
