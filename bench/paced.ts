import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Begins `work` at a steady pace, however long the last one takes, so that a pause delays all that begin during it.
 * Goes on until `ended`, and gives how long each took, in milliseconds. Rejects as soon as one fails.
 */
export async function paced(everyMs: number, ended: Promise<unknown>, work: () => Promise<unknown>): Promise<number[]> {
  const times: number[] = [];
  const underWay: Promise<void>[] = [];
  let over = false;
  const end = () => {
    over = true;
  };
  ended.then(end, end);
  for (let due = performance.now(); !over; due += everyMs) {
    const early = due - performance.now();
    if (early > 0) await sleep(early);
    const one = timed();
    one.catch(end);
    underWay.push(one);
  }
  await Promise.all(underWay);
  await ended;
  return times;

  async function timed(): Promise<void> {
    const begun = performance.now();
    await work();
    times.push(performance.now() - begun);
  }
}
