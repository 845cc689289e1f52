import { setTimeout as sleep } from 'node:timers/promises';

/** Blocks this process for `ms`: it reads nothing, and timers that expire meanwhile fire afterwards. */
export function standStill(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

/** In so many turns of the event loop all that was sent over loopback has been read, also through TLS and a proxy. */
const TURNS = 10;

/**
 * Lets `ms` pass, and some turns of the event loop: bytes that this process sent to itself have arrived by then. Time
 * alone is not enough: on a machine that pauses, a timer fires before anything was read.
 */
export async function aWhile(ms: number): Promise<void> {
  await sleep(ms);
  for (let turn = 0; turn < TURNS; turn += 1) await new Promise(setImmediate);
}

/** Turns of the event loop that others have until `work` has ended. */
export async function turnsDuring(work: Promise<unknown>): Promise<number> {
  let turns = 0;
  let isDone = false;
  const done = work.finally(() => {
    isDone = true;
  });
  while (!isDone) {
    await new Promise(setImmediate);
    turns += 1;
  }
  await done;
  return turns;
}
