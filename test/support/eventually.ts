import { setTimeout as sleep } from 'node:timers/promises';

const TRIES = 200;
const PAUSE_MS = 10;

/** Asks again and again until there is an answer. Gives up after some seconds. */
export async function eventually<T>(ask: () => Promise<T | undefined> | T | undefined): Promise<T> {
  for (let tries = 0; tries < TRIES; tries += 1) {
    const answer = await ask();
    if (answer !== undefined) return answer;
    await sleep(PAUSE_MS);
  }
  throw new Error('it did not come to pass');
}
