import { standStill } from './a-while.ts';

/**
 * Blocks this process at random, for up to 120 ms and about half of the time, as on a machine with
 * much else to do. A test in which time decides what comes first fails with it, as it would elsewhere now and then; and so
 * does what Portico itself takes for granted of time. Required by `npm run test:stalled`.
 */
const LONGEST_MS = 120;
const PAUSE_MS = 150;

const wait = globalThis.setTimeout;

function stall(): void {
  standStill(Math.random() * LONGEST_MS);
  wait(stall, Math.random() * PAUSE_MS).unref();
}
stall();
