import type { SharedLooked } from '../../../core/kernel/events.ts';
import type { Load } from '../../../core/reads/snapshots/load.ts';
import type { Copies, Found } from './copies.ts';
import type { SharedLevel } from './level.ts';
import { isRecent, nextStep, pauseMs, type Standing } from './steps.ts';

export interface ApproachOptions {
  readonly level: SharedLevel;
  /** What was loaded so long ago, in milliseconds, is not taken. */
  readonly maxAgeMs: number;
  /** How long to wait for another replica's load, in milliseconds. */
  readonly patienceMs: number;
}

/** What a read comes to at the second level, before anything is loaded for it. */
export interface Approach {
  readonly outcome: SharedLooked['outcome'];
  /** What another replica has loaded, as old as it is. */
  readonly taken?: Load | undefined;
  /** What was found last; `undefined`: the store cannot be asked. */
  readonly found?: Found | undefined;
  /** What became of waiting for another replica; `undefined`: nobody waited, or nobody knows. */
  readonly waited?: 'well' | 'in vain' | undefined;
  /** Token of the lease, where this replica has it. */
  readonly lease?: string | undefined;
}

/**
 * Looks, asks for the lease, and looks again: until there is something to take, or it is this replica's turn to load. Rejects
 * with the signal's reason once that aborts, and then has no lease.
 */
export async function approach(copies: Copies, signal: AbortSignal, options: ApproachOptions): Promise<Approach> {
  const { level, maxAgeMs, patienceMs } = options;
  const { store, leaseMs, now, clock, sleep } = level;
  const begun = clock();
  let holder: Standing['lease'] = 'unasked';
  let lease: string | undefined;
  let waited: Approach['waited'];
  try {
    for (;;) {
      const found = await copies.look();
      const copy = found?.copy;
      const opened = copy && isRecent(copy.loadedAt, maxAgeMs, now()) ? await copy.open() : undefined;
      signal.throwIfAborted();
      if (opened !== undefined && opened !== 'altered') return { outcome: 'hit', taken: opened, lease, waited };
      const outcome = outcomeOf(found, opened);
      if (found === undefined) return { outcome, lease };
      const standing: Standing = { lease: holder, waitedMs: clock() - begun, patienceMs };
      const step = nextStep(standing);
      if (step === 'load')
        return { outcome, found, lease, waited: waited && (lease === undefined ? 'in vain' : 'well') };
      if (step === 'wait') {
        waited = 'well';
        await sleep(pauseMs(standing), signal);
      }
      const answer = await store.lease(copies.name, leaseMs);
      if (answer === undefined) return { outcome, found };
      holder = answer === 'other' ? 'other' : 'ours';
      if (answer !== 'other') lease = answer.token;
    }
  } catch (error) {
    if (lease !== undefined) void store.release(copies.name, lease);
    throw error;
  }
}

function outcomeOf(found: Found | undefined, opened: 'altered' | undefined): SharedLooked['outcome'] {
  if (found === undefined) return 'unavailable';
  if (found.altered || opened === 'altered') return 'altered';
  return found.copy === undefined ? 'miss' : 'stale';
}
