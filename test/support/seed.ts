import fc from 'fast-check';

/**
 * The seed of all random values in a test: always the same one, so that no run depends on luck, or `SEED`. Runs at night take new
 * ones. Put it into the name of the test, so that a failure shows it.
 */
export const SEED = Number(process.env['SEED'] ?? 1);

// The default seed of fast-check, which prints it with a failure. mocha loads this file before any test, so that it is that of all.
fc.configureGlobal({ seed: SEED });

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
