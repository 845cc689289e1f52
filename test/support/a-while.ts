import { setTimeout as sleep } from 'node:timers/promises';

/** Has this process stand still: it reads nothing, and what is due meanwhile is due at once when it goes on. */
export function standStill(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

/** In so many turns of the event loop all that was sent over loopback has been read, also through TLS and a proxy. */
const TURNS = 10;

/**
 * Lets `ms` pass, and some turns of the event loop: bytes that this process sent to itself have arrived by then. Time
 * alone does not tell so: where the machine stands still, a timer is due before anything was read.
 */
export async function aWhile(ms: number): Promise<void> {
  await sleep(ms);
  for (let turn = 0; turn < TURNS; turn += 1) await new Promise(setImmediate);
}
