import { LifetimeSettings } from '../../src/core/config/schema/resource/resource-settings.ts';
import { percent, table } from '../report.ts';
import type { Experiment } from '../scenario.ts';
import type { Account, Sums } from '../simulation/account.ts';
import { type FleetOptions, simulate } from '../simulation/fleet.ts';
import { randomFrom } from '../simulation/random.ts';

const MINUTE_S = 60;
/** Until then the replicas come to hold what they will hold. */
const WARM_S = 6 * MINUTE_S;
const SECONDS = 9 * MINUTE_S;
/** When the replicas that share lose Redis, and when that simulation ends. */
const LOST_S = SECONDS;
const SHARING_SECONDS = LOST_S + 4 * MINUTE_S;

const SCENE: Omit<FleetOptions, 'random'> = {
  replicas: 100,
  callers: 1_000_000,
  sessionsPerSecond: 500,
  readsPerSession: 10,
  pauseMs: 10_000,
  maxEntries: 20_000,
  lifetime: LifetimeSettings.parse({}),
  platform: { loadMs: 50, loadsPerSecond: 1500 },
  seconds: SECONDS,
};
const SHARING = { leaseMs: 10_000, waitMs: 2000 };

/** What a platform sees of many replicas, with what they share and without. Nothing is served: it is reckoned. */
export const fleetSimulation: Experiment = {
  name: 'fleet-simulation',
  async run() {
    const alone = simulate({ ...SCENE, replicas: 1, maxEntries: SCENE.callers, random: randomFrom(1) });
    const apart = simulate({ ...SCENE, random: randomFrom(1) });
    const lost = { from: LOST_S * 1000, to: (LOST_S + MINUTE_S) * 1000 };
    const sharing = simulate({ ...SCENE, sharing: SHARING, lost, seconds: SHARING_SECONDS, random: randomFrom(1) });
    const rows: [string, Account, number, number][] = [
      ['one process that has room for all', alone, WARM_S, SECONDS],
      ['100 replicas, each its own', apart, WARM_S, SECONDS],
      ['100 replicas that share', sharing, WARM_S, LOST_S],
      ['… in the minute without Redis', sharing, LOST_S, LOST_S + MINUTE_S],
      ['… in the minute after it', sharing, LOST_S + MINUTE_S, LOST_S + 2 * MINUTE_S],
      ['… later', sharing, LOST_S + 2 * MINUTE_S, SHARING_SECONDS],
    ];
    return table(
      [
        '',
        'Reads a second',
        'Loads a second',
        'at most',
        'Refused (429)',
        'Served from memory',
        'from Redis',
        'by a load',
        'stale for an error',
        'Failed',
      ],
      rows.map(([name, account, from, to]) => [name, ...cells(account.between(from, to), to - from)]),
    );
  },
};

function cells(sums: Sums, seconds: number): string[] {
  const { reads, loads, refused, first, second, upstream, staleForError, failed } = sums;
  return [
    (reads / seconds).toFixed(0),
    (loads / seconds).toFixed(0),
    String(sums.mostLoads),
    percent(refused / loads),
    ...[first, second, upstream, staleForError, failed].map((part) => percent(part / reads)),
  ];
}
