import { setImmediate as nextTurn } from 'node:timers/promises';

/** Runs one step of the work on a page, in this turn of the event loop or in the next one that has time for it. */
export type Step = <T>(work: () => T) => Promise<T>;

/** Shares heap and event loop among all pages that are worked on. */
export interface PageTurns {
  /**
   * Runs the work on a page of so many bytes, in the order of asking, once there is room for it; at once for a small one.
   * Rejects with the signal's reason where that aborts before the work or between two of its steps.
   */
  run<T>(bytes: number, signal: AbortSignal, work: (step: Step) => Promise<T>): Promise<T>;
}

/** A page up to this need not wait for room: whatever it holds, it takes 2 MB for a few milliseconds. */
export const SMALL_BYTES = 65_536;

/** How long the steps of all pages may take in one turn of the event loop. The last of them may take longer. */
const TURN_MS = 5;

/**
 * Parsed, a page takes up to thirty times its bytes of the heap. `maxBytes` are those of all pages that are worked on at once,
 * but for small ones; a larger page is worked on alone.
 */
export function createPageTurns(maxBytes: number): PageTurns {
  const waiting = new Set<() => void>();
  let takenBytes = 0;
  let usedMs = 0;

  function take(bytes: number, signal: AbortSignal): Promise<void> | undefined {
    if (waiting.size === 0 && takenBytes + bytes <= maxBytes) {
      takenBytes += bytes;
      return undefined;
    }
    return new Promise((resolve, reject) => {
      const leave = () => {
        waiting.delete(begin);
        reject(signal.reason);
        letIn();
      };
      const begin = () => {
        if (takenBytes + bytes > maxBytes) return;
        waiting.delete(begin);
        signal.removeEventListener('abort', leave);
        takenBytes += bytes;
        resolve();
      };
      waiting.add(begin);
      signal.addEventListener('abort', leave, { once: true });
    });
  }

  /** Lets in those that waited longest, as long as there is room for the first of them. */
  function letIn(): void {
    for (const begin of waiting) {
      begin();
      if (waiting.has(begin)) return;
    }
  }

  function measured<T>(work: () => T): T {
    const begun = performance.now();
    if (usedMs === 0) {
      setImmediate(() => {
        usedMs = 0;
      });
    }
    try {
      return work();
    } finally {
      usedMs += performance.now() - begun;
    }
  }

  return {
    async run(bytes, signal, work) {
      const step: Step = async (piece) => {
        while (usedMs >= TURN_MS) await nextTurn();
        signal.throwIfAborted();
        return measured(piece);
      };
      if (bytes <= SMALL_BYTES) return work(step);
      const weight = Math.min(bytes, maxBytes);
      signal.throwIfAborted();
      await take(weight, signal);
      try {
        return await work(step);
      } finally {
        takenBytes -= weight;
        letIn();
      }
    },
  };
}
