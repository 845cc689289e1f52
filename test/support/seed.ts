import { randomInt } from 'node:crypto';
import fc from 'fast-check';
import { randomFrom as from } from '../../bench/simulation/random.ts';

/**
 * What all that is random in a test begins from: another one with each run, or the one that `SEED` names, so that a run
 * can be had again. Put it into the name of the test, so that whoever sees the test fail can see it.
 */
export const SEED = Number(process.env['SEED'] ?? randomInt(2 ** 31));

// Whoever gives fast-check no seed gets this one. It prints it with what fails.
fc.configureGlobal({ seed: SEED });

/** For the name of a test. */
export const SEEDED = `(SEED=${SEED})`;

/** Numbers from 0 up to 1, the same for the same seed. */
export function randomFrom(seed = SEED): () => number {
  return from(seed);
}
