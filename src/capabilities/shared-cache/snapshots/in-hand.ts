/**
 * Works on something that takes so many bytes of memory, and gives what comes of it; `overloaded`, with nothing done, where too
 * much is in hand already. One piece of work is always taken on, however large.
 */
export type InHand = <T>(bytes: number, work: () => Promise<T>) => Promise<T | 'overloaded'>;

/** At most `maxBytes` are in hand, and of these `maxAtOnce` are worked on; the others wait in line. */
export function createInHand(bounds: { readonly maxBytes: number; readonly maxAtOnce: number }): InHand {
  const { maxBytes, maxAtOnce } = bounds;
  const line: (() => void)[] = [];
  let inHand = 0;
  let running = 0;

  return async (bytes, work) => {
    if (inHand > 0 && inHand + bytes > maxBytes) return 'overloaded';
    inHand += bytes;
    if (running < maxAtOnce) running += 1;
    else await new Promise<void>((resolve) => line.push(resolve));
    try {
      return await work();
    } finally {
      inHand -= bytes;
      const next = line.shift();
      if (next === undefined) running -= 1;
      else next();
    }
  };
}
