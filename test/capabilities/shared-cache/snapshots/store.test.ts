import { createMemoryStore } from '../../../support/fleet/shared-store.ts';
import { holdToContract } from '../../../support/fleet/shared-store-contract.ts';

describe('the shared store of the tests', () => {
  holdToContract(async () => {
    let time = 1_000_000;
    const store = createMemoryStore(() => time);
    return {
      connect: async () => store.connect(),
      async pass(ms) {
        time += ms;
      },
      flush: async () => store.flush(),
    };
  });
});
