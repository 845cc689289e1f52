import { servePlatform } from '../platform.ts';
import { READ, servePortico } from '../portico.ts';
import { PARTS, readProfile } from '../profile.ts';
import { percent, table } from '../report.ts';
import type { Scenario } from '../scenario.ts';
import type { Workshop } from '../workshop.ts';
import { measure } from '../wrk.ts';

const HOUR_MS = 3_600_000;

/** Where Portico's own time goes, by a profile of its processor use under load. */
export const profile: Scenario = {
  name: 'profile',
  title: 'Where the time goes',
  async run(workshop) {
    const fromCache = await profileRead(workshop, HOUR_MS);
    const uncached = await profileRead(workshop, 0);
    const cell = (shares: ReadonlyMap<string, number>, part: string) => percent(shares.get(part) ?? 0);
    return table(
      ['Part', 'Cached read', 'Uncached read'],
      PARTS.map((part) => [part, cell(fromCache, part), cell(uncached, part)]),
    );
  },
};

async function profileRead(workshop: Workshop, ttlMs: number): Promise<ReadonlyMap<string, number>> {
  const { seconds, rounds } = workshop.pace;
  const platform = await servePlatform(workshop);
  const portico = await servePortico(workshop, platform.url, {
    settings: { resources: { tools: { cache: { ttlMs } } } },
    node: ['--cpu-prof', '--cpu-prof-dir', workshop.folder, '--cpu-prof-name', `${ttlMs}.cpuprofile`],
  });
  // The first reads fill the cache, and have the code compiled.
  await measure(workshop, seconds, { url: `${portico.url}${READ}tools` });
  await measure(workshop, seconds * rounds, { url: `${portico.url}${READ}tools` });
  await portico.stop();
  await platform.stop();
  return readProfile(`${workshop.folder}/${ttlMs}.cpuprofile`);
}
