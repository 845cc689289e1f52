import { setTimeout as sleep } from 'node:timers/promises';

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
