import { expect } from 'chai';
import type { Account } from '../../bench/simulation/account.ts';
import { type FleetOptions, simulate } from '../../bench/simulation/fleet.ts';
import { randomFrom, SEEDED } from '../support/seed.ts';

const SCENE: Omit<FleetOptions, 'random'> = {
  ...{ replicas: 10, callers: 500, sessionsPerSecond: 5, readsPerSession: 10, pauseMs: 10_000, maxEntries: 1000 },
  lifetime: { ttlMs: 60_000, staleWhileRevalidateMs: 300_000, staleIfErrorMs: 3_600_000 },
  platform: { loadMs: 50, loadsPerSecond: 1000 },
  seconds: 900,
};
const SHARING = { leaseMs: 10_000, waitMs: 2000 };
const of = (options: Partial<FleetOptions> = {}): Account => simulate({ ...SCENE, random: randomFrom(), ...options });
const loads = (account: Account): number => account.between(300, 600).loads;

describe(`the simulation of a fleet ${SEEDED}`, () => {
  it('loads little more than one process when replicas share, and much more when they do not', () => {
    const alone = loads(of({ replicas: 1 }));
    expect(alone).to.be.above(100);
    expect(loads(of({ sharing: SHARING }))).to.be.within(alone * 0.8, alone * 1.2);
    expect(loads(of())).to.be.above(alone * 2);
  });

  it('loads per replica while the store is lost, and shares again afterwards', () => {
    const account = of({ sharing: SHARING, lost: { from: 600_000, to: 660_000 } });
    const [before, during, after] = [account.between(540, 600), account.between(600, 660), account.between(780, 900)];
    expect(before.second).to.be.above(0);
    expect(during.second).to.equal(0);
    expect(during.loads).to.be.above(before.loads * 1.5);
    expect(after.second).to.be.above(0);
    expect(after.loads / 2).to.be.below(during.loads);
  });

  it('counts each read once, and fails rejected reads without a stale list', () => {
    const { reads, first, second, upstream, staleForError, failed, refused } = of({
      platform: { loadMs: 50, loadsPerSecond: 1 },
    }).between(0, 900);
    expect(reads).to.equal(first + second + upstream + staleForError + failed);
    expect(refused).to.be.above(0);
    expect(failed).to.be.above(0);
    expect(upstream).to.be.above(0);
  });
});
