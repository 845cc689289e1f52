import { randomInt } from 'node:crypto';
import fc from 'fast-check';
import { randomFrom as from } from '../../bench/simulation/random.ts';

/**
 * The seed of all random values in a test: a new one with each run, or `SEED`, so that a run
 * can be repeated. Put it into the name of the test, so that a failure shows it.
 */
export const SEED = Number(process.env['SEED'] ?? randomInt(2 ** 31));

// The default seed of fast-check, which prints it with a failure.
fc.configureGlobal({ seed: SEED });

export const SEEDED = `(SEED=${SEED})`;

/** Numbers from 0 up to 1, the same for the same seed. */
export function randomFrom(seed = SEED): () => number {
  return from(seed);
}
