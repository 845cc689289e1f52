import { setTimeout as sleep } from 'node:timers/promises';

const PAUSE_MS = 10;
/** Generous, since a machine may have much else to do; a little less than mocha gives a test, for the better message. */
const PATIENCE_MS = 50_000;

/**
 * Asks again and again until the result is neither `undefined` nor `false`, and gives it. Rejects with what `ask` throws,
 * and after `patienceMs` with an error.
 */
export async function eventually<T>(
  ask: () => Promise<T | undefined | false> | T | undefined | false,
  patienceMs = PATIENCE_MS,
): Promise<T> {
  const until = performance.now() + patienceMs;
  for (;;) {
    const result = await ask();
    if (result !== undefined && result !== false) return result;
    if (performance.now() > until) throw new Error(`not so after ${patienceMs / 1000} s: ${ask}`);
    await sleep(PAUSE_MS);
  }
}
