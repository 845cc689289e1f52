import { setTimeout as sleep } from 'node:timers/promises';

export type UseCount = ReturnType<typeof createUseCount>;

/** Counts the users of something that must not be closed while in use. */
export function createUseCount() {
  const waiting: (() => void)[] = [];
  /** Ends each user early. */
  const cuts = new Set<() => void>();
  let count = 0;

  /** `cut` ends the user early, and is given to `leave`, too. */
  function enter(cut?: () => void): void {
    count += 1;
    if (cut !== undefined) cuts.add(cut);
  }

  function leave(cut?: () => void): void {
    count -= 1;
    if (cut !== undefined) cuts.delete(cut);
    if (count === 0) for (const resolve of waiting.splice(0)) resolve();
  }

  return {
    enter,
    leave,
    track:
      <In extends readonly unknown[], Out>(work: (...given: In) => Promise<Out>) =>
      async (...given: In): Promise<Out> => {
        enter();
        try {
          return await work(...given);
        } finally {
          leave();
        }
      },
    /** Resolves when nothing uses it any more. Cuts those that are left after `withinMs`. */
    async whenIdle(withinMs: number): Promise<void> {
      if (count === 0) return;
      const timeout = new AbortController();
      const idle = new Promise<void>((resolve) => waiting.push(resolve));
      const late = sleep(withinMs, undefined, { signal: timeout.signal, ref: false }).then(
        () => {
          for (const cut of cuts) cut();
        },
        () => {},
      );
      await Promise.race([idle, late]);
      timeout.abort();
    },
  };
}
