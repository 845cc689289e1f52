import { setTimeout as sleep } from 'node:timers/promises';

/** Resolves once `condition` holds; gives up after five seconds. */
export async function until(condition: () => boolean): Promise<void> {
  for (let tries = 0; tries < 1000; tries += 1) {
    if (condition()) return;
    await sleep(5);
  }
  throw new Error('waited in vain');
}
