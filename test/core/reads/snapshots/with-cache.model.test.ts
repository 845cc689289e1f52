import fc from 'fast-check';
import { atDepth } from '../../../support/depth.ts';
import { SEED, SEEDED } from '../../../support/seed.ts';
import { ofOneReplica, ofReplicas } from './model/commands.ts';
import { World } from './model/world.ts';

describe('snapshots and flights, whatever happens in whatever order', () => {
  it(`serve each caller what its upstream gave it, no older than allowed, and leave nothing behind ${SEEDED}`, async function () {
    this.timeout(900_000);
    const sequences = fc.commands([ofOneReplica], { maxCommands: 30, size: 'max' });
    await fc.assert(
      fc.asyncProperty(sequences, async (sequence) => {
        const world = new World();
        await fc.asyncModelRun(() => ({ model: {}, real: world }), sequence);
        await world.end();
      }),
      { numRuns: atDepth(400, 20_000), seed: SEED },
    );
  });

  it(`do so where replicas share them, by a store that fails at times and is evil at others ${SEEDED}`, async function () {
    this.timeout(900_000);
    const sequences = fc.commands([ofReplicas(2)], { maxCommands: 40, size: 'max' });
    await fc.assert(
      fc.asyncProperty(sequences, async (sequence) => {
        const world = new World({ replicas: 2 });
        await fc.asyncModelRun(() => ({ model: {}, real: world }), sequence);
        await world.end();
      }),
      { numRuns: atDepth(60, 2500), seed: SEED },
    );
  });
});
