import fc from 'fast-check';
import { SEED, SEEDED } from '../../../../support/seed.ts';
import { ofOneReplica, ofReplicas } from './commands.ts';
import { World, type WorldOptions } from './world.ts';

export interface Depth {
  /** Sequences of one replica. */
  readonly sequences: number;
  /** And of two, which cost more: what is shared is sealed and opened. */
  readonly shared: number;
}

/** What must hold of snapshots and flights, tried in so many sequences of what may happen. */
export function whateverHappens({ sequences: numRuns, shared }: Depth): void {
  it(`serve each caller what its upstream gave it, no older than allowed, and leave nothing behind ${SEEDED}`, async function () {
    this.timeout(900_000);
    const sequences = fc.commands([ofOneReplica], { maxCommands: 30, size: 'max' });
    await fc.assert(
      fc.asyncProperty(sequences, async (sequence) => {
        const world = new World();
        await fc.asyncModelRun(() => ({ model: {}, real: world }), sequence);
        await world.end();
      }),
      { numRuns, seed: SEED },
    );
  });

  it(`do so where replicas share them, by a store that fails at times and is evil at others ${SEEDED}`, async function () {
    this.timeout(900_000);
    const sequences = fc.commands([ofReplicas(2)], { maxCommands: 40, size: 'max' });
    const patience: fc.Arbitrary<WorldOptions> = fc.constantFrom(
      { replicas: 2, leaseMs: 1_000_000_000, waitMs: 1_000_000_000 },
      { replicas: 2, leaseMs: 300, waitMs: 60 },
    );
    await fc.assert(
      fc.asyncProperty(sequences, patience, async (sequence, options) => {
        const world = new World(options);
        // Leases end by themselves, and who waits loses patience.
        if (options.waitMs < 1000) world.undisturbed = false;
        await fc.asyncModelRun(() => ({ model: {}, real: world }), sequence);
        await world.end();
      }),
      { numRuns: shared, seed: SEED },
    );
  });
}
