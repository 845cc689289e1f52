import { createSizedLru } from '../../core/kernel/lru.ts';
import type { SharedCounts } from '../../core/sharing.ts';

interface RateOptions {
  readonly quota: number;
  /** Length of a window, which starts with the key's first request. */
  readonly windowMs: number;
  /** Maximum number of keys; the least recently used is removed and starts again. */
  readonly maxKeys: number;
  /** Counters of all replicas. @default this process counts alone */
  readonly counts?: SharedCounts | undefined;
  /** Name of a key in those counters. */
  readonly nameOf?: (key: string) => string;
  /** Monotonic clock in milliseconds. @default `performance.now` */
  readonly now?: () => number;
}

export interface RateState {
  readonly isOver: boolean;
  readonly remaining: number;
  readonly resetMs: number;
}

export type Rate = ReturnType<typeof createRate>;

interface Window {
  /** By requests of this process. */
  taken: number;
  readonly endsAt: number;
  /** By requests of all other replicas, according to the store. */
  others: number;
  /** End of their window. */
  othersUntil: number;
}

/** Pause before a report to the store, and most keys of one report. */
const PAUSE_MS = 100;
const STEP = 1024;

/**
 * Counts requests per key in fixed windows, without timers. With shared counters, requests are added to them a moment later, for all
 * keys together, so that no request waits; all replicas together can exceed the quota by that moment's requests. A key is over
 * if either count is, so an emptied or lying store admits no more than one process alone would. What it says ends
 * with the window of this process, so it cannot refuse a key for longer. What cannot be added is counted in this process only.
 */
export function createRate(options: RateOptions) {
  const { quota, windowMs, maxKeys, counts, nameOf = (key) => key, now = () => performance.now() } = options;
  const windows = createSizedLru<string, Window>({ maxSize: maxKeys });
  const unreported = new Map<string, number>();
  let isReporting = false;

  function openWindow(key: string): Window | undefined {
    const window = windows.get(key);
    return window !== undefined && now() < window.endsAt ? window : undefined;
  }

  function begin(key: string): Window {
    const window = { taken: 0, endsAt: now() + windowMs, others: 0, othersUntil: 0 };
    windows.set(key, window);
    return window;
  }

  function stateOf({ taken, endsAt, others, othersUntil }: Window): RateState {
    const at = now();
    const isShared = others > 0 && at < othersUntil;
    const total = isShared ? taken + others : taken;
    // A sum of two times may be rounded up.
    const resetMs = Math.min((isShared ? othersUntil : endsAt) - at, windowMs);
    return { isOver: total > quota, remaining: Math.max(quota - total, 0), resetMs };
  }

  function add(key: string, window: Window, requests: 1 | -1): void {
    window.taken += requests;
    if (counts === undefined) return;
    const sum = (unreported.get(key) ?? 0) + requests;
    if (sum === 0) unreported.delete(key);
    else if (unreported.has(key) || unreported.size < maxKeys) unreported.set(key, sum);
    reportSoon(counts);
  }

  async function report(to: SharedCounts): Promise<void> {
    const step = [...unreported.entries().take(STEP)];
    for (const [key] of step) unreported.delete(key);
    const found = await to.add(new Map(step.map(([key, requests]) => [nameOf(key), requests])), windowMs);
    for (const [index, [key]] of step.entries()) {
      const counted = found[index];
      const window = openWindow(key);
      if (counted === undefined || window === undefined) continue;
      window.others = counted.total - (window.taken - (unreported.get(key) ?? 0));
      window.othersUntil = Math.min(now() + counted.restMs, window.endsAt);
    }
  }

  function reportSoon(to: SharedCounts): void {
    if (isReporting) return;
    isReporting = true;
    setTimeout(async () => {
      await report(to);
      isReporting = false;
      if (unreported.size > 0) reportSoon(to);
    }, PAUSE_MS);
  }

  return {
    /** Counts a request, unless it is over the quota. */
    take(key: string): RateState {
      const window = openWindow(key) ?? begin(key);
      add(key, window, 1);
      const state = stateOf(window);
      if (state.isOver) add(key, window, -1);
      return state;
    },
    /** Counts a request of this window no longer. */
    giveBack(key: string): void {
      const window = openWindow(key);
      if (window !== undefined && window.taken > 0) add(key, window, -1);
    },
  };
}
