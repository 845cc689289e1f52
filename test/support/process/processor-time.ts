/** The coarsest that a system counts processor time in, in milliseconds. */
export const TICK_MS = 4;

/** Milliseconds of the processor's time that this thread has used: they do not grow while others use the machine. */
export function processorMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}

/** The processor time of one piece of work that does not wait, in milliseconds. */
export function processorMsOf(work: () => unknown): number {
  const before = processorMs();
  work();
  return processorMs() - before;
}

/**
 * Runs `work`, and gives the most processor time that one turn of the event loop took meanwhile, in milliseconds: what all
 * that runs in this thread between two checks of the loop took together.
 */
export async function longestTurn(work: () => unknown): Promise<number> {
  let longest = 0;
  let before = processorMs();
  let running = true;
  const turn = () => {
    const now = processorMs();
    longest = Math.max(longest, now - before);
    before = now;
    if (running) setImmediate(turn);
  };
  setImmediate(turn);
  try {
    await work();
  } finally {
    running = false;
    turn();
  }
  return longest;
}
