/** The coarsest that a system counts processor time in. */
export const TICK_MS = 4;

/** Milliseconds of processor time that this thread has used. Some systems count in ticks of {@link TICK_MS}. */
export function threadMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}

/** The longest turn of the event loop while `work` goes on, in milliseconds of processor time. */
export async function longestTurn(work: () => unknown): Promise<number> {
  let longest = 0;
  let last = threadMs();
  let isDone = false;
  const { promise, resolve } = Promise.withResolvers<void>();
  function tick(): void {
    const now = threadMs();
    longest = Math.max(longest, now - last);
    last = now;
    if (isDone) resolve();
    else setImmediate(tick);
  }
  setImmediate(tick);
  try {
    await work();
  } finally {
    isDone = true;
  }
  await promise;
  return longest;
}
