import type { SharedLooked } from '../../core/kernel/events.ts';
import type { Load } from '../../core/reads/snapshots/load.ts';
import { isRecent } from '../../core/reads/snapshots/with-snapshots.ts';
import type { Lease } from './redis-store.ts';
import type { CallerCopies, Copy } from './shared-copies.ts';

export interface LookupOptions {
  /** Age from which on a copy is not taken, in milliseconds. */
  readonly maxAgeMs: number;
  readonly leaseMs: number;
  readonly waitMs: number;
  readonly now: () => number;
  readonly clock: () => number;
  /** Resolves after so many milliseconds, or rejects when the signal aborts. */
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<unknown>;
}

export interface Lookup {
  readonly outcome: SharedLooked['outcome'];
  readonly taken?: Load | undefined;
  readonly older?: Copy | undefined;
  /** The lease, if this replica holds it: the load may be stored. */
  readonly lease?: Lease | undefined;
}

/** Who holds the lease, as far as this read has found out. */
export interface LeaseState {
  readonly holder: 'unknown' | 'self' | 'other';
  readonly waitedMs: number;
  readonly waitMs: number;
}

/** Looks again after it has the lease: another replica may have stored in between. Rejects with the signal's reason, and no lease. */
export async function lookupOrLease(
  copies: CallerCopies,
  signal: AbortSignal,
  options: LookupOptions,
): Promise<Lookup> {
  const { maxAgeMs, leaseMs, waitMs, now, clock, sleep } = options;
  const startedAt = clock();
  let holder: LeaseState['holder'] = 'unknown';
  let lease: Lease | undefined;
  try {
    for (;;) {
      const found = await copies.find();
      signal.throwIfAborted();
      if (found === undefined) return { outcome: 'unavailable', lease };
      const { copy, isAltered } = found;
      const isTaken = copy !== undefined && isRecent(copy.loadedAt, maxAgeMs, now());
      const opened = isTaken ? await copy.open() : undefined;
      signal.throwIfAborted();
      if (opened !== undefined && opened !== 'altered') return { outcome: 'hit', taken: opened, lease };
      const outcome = isAltered || opened === 'altered' ? 'altered' : copy === undefined ? 'miss' : 'stale';
      const state = { holder, waitedMs: clock() - startedAt, waitMs };
      const step = nextStep(state);
      if (step === 'load') return { outcome, older: copy, lease };
      if (step === 'wait') await sleep(pauseMs(state), signal);
      const acquired = await copies.lease(leaseMs);
      if (acquired === undefined) return { outcome, older: copy };
      holder = acquired === 'other' ? 'other' : 'self';
      if (acquired !== 'other') lease = acquired;
    }
  } catch (error) {
    if (lease !== undefined) void copies.release(lease);
    throw error;
  }
}

/** What a read does next that has found nothing to take. */
export function nextStep({ holder, waitedMs, waitMs }: LeaseState): 'lease' | 'wait' | 'load' {
  if (holder === 'unknown') return 'lease';
  return holder === 'self' || waitedMs >= waitMs ? 'load' : 'wait';
}

const MIN_PAUSE_MS = 10;
const MAX_PAUSE_MS = 100;
/** Of `waitMs`: a read that may wait for long looks less often. */
const MAX_PAUSE_SHARE = 1 / 20;

/** Pause until the next look: half of the time waited so far, so that few commands are sent and little time is lost. */
export function pauseMs({ waitedMs, waitMs }: LeaseState): number {
  const max = Math.max(MAX_PAUSE_MS, waitMs * MAX_PAUSE_SHARE);
  const pause = Math.min(max, Math.max(MIN_PAUSE_MS, waitedMs / 2));
  return Math.min(pause, waitMs - waitedMs);
}
