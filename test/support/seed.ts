import { randomInt } from 'node:crypto';
import fc from 'fast-check';

/**
 * What all that is random in a test begins from: another one with each run, or the one that `SEED` names, so that a run
 * can be had again. Put it into the name of the test, so that whoever sees the test fail can see it.
 */
export const SEED = Number(process.env['SEED'] ?? randomInt(2 ** 31));

// Whoever gives fast-check no seed gets this one. It prints it with what fails.
fc.configureGlobal({ seed: SEED });

/** For the name of a test. */
export const SEEDED = `(SEED=${SEED})`;

/** Numbers from 0 up to 1, the same for the same seed (mulberry32). */
export function randomFrom(seed = SEED): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
