/** Runs work that takes `bytes` of memory, or resolves with `overloaded` beyond the bound. One piece always runs, however large. */
export type MemorySemaphore = <T>(bytes: number, work: () => Promise<T>) => Promise<T | 'overloaded'>;

/** Acquires `maxBytes` at most; `maxAtOnce` pieces of work run, and the others wait in order. */
export function createMemorySemaphore(bounds: {
  readonly maxBytes: number;
  readonly maxAtOnce: number;
}): MemorySemaphore {
  const { maxBytes, maxAtOnce } = bounds;
  const waiting: (() => void)[] = [];
  let acquired = 0;
  let running = 0;

  return async (bytes, work) => {
    if (acquired > 0 && acquired + bytes > maxBytes) return 'overloaded';
    acquired += bytes;
    if (running < maxAtOnce) running += 1;
    else await new Promise<void>((resolve) => waiting.push(resolve));
    try {
      return await work();
    } finally {
      acquired -= bytes;
      const next = waiting.shift();
      if (next === undefined) running -= 1;
      else next();
    }
  };
}
