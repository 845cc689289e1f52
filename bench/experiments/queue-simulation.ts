import { percent, table } from '../report.ts';
import type { Experiment } from '../scenario.ts';
import { simulateQueue } from '../simulation/queue.ts';
import { randomFrom } from '../simulation/random.ts';

const SCENE = { slots: 32, maxQueue: 1024, timeoutMs: 10_000, seconds: 80, warmSeconds: 20 };
const SECONDS = SCENE.seconds - SCENE.warmSeconds;
const LOADS = [0.5, 1, 2, 5];
/** Of a page that takes a second on average. */
const DURATIONS: Readonly<Record<string, (random: () => number) => number>> = {
  'always 1 s': () => 1000,
  '0.5 to 1.5 s': (random) => 500 + 1000 * random(),
  'exponential, 1 s': (random) => -1000 * Math.log(1 - random()),
};

/** Reads that a platform answers when more arrive than it can answer. Nothing is sent: it is simulated. */
export const queueSimulation: Experiment = {
  name: 'queue-simulation',
  async run() {
    const rows: string[][] = [];
    for (const [what, duration] of Object.entries(DURATIONS)) {
      for (const pages of [1, 3]) rows.push([what, String(pages), ...(await goodput(duration, pages))]);
    }
    return table(['A page takes', 'Pages', ...LOADS.map((load) => `${load} × capacity`)], rows);
  },
};

/** Answered reads, in percent of those that arrive or, if they are fewer, of those that the platform can answer. */
async function goodput(duration: (random: () => number) => number, pages: number): Promise<string[]> {
  const cells: string[] = [];
  for (const load of LOADS) {
    const random = randomFrom(1);
    const capacity = SCENE.slots / pages;
    const durationMs = () => duration(random);
    const { answered } = await simulateQueue({ ...SCENE, pages, readsPerSecond: capacity * load, durationMs, random });
    cells.push(percent(answered / (capacity * SECONDS * Math.min(load, 1))));
  }
  return cells;
}
