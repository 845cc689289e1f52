import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { BUILT, build } from '../build.ts';
import { createClient, each } from '../client.ts';
import { servePlatform } from '../platform.ts';
import { READ, servePortico } from '../portico.ts';
import { table } from '../report.ts';
import type { Scenario } from '../scenario.ts';

const TOKENS = 10_000;
const SETTLE_MS = 10_000;

/** Resident memory with default settings, before and after more callers than the cache has room for. */
export const memory: Scenario = {
  name: 'memory',
  title: 'Resident memory',
  async run(workshop) {
    build();
    const client = createClient();
    const platform = await servePlatform(workshop);
    const { url, pid } = await servePortico(workshop, platform.url, { main: BUILT, watched: false });
    const rows: string[][] = [];
    const note = (when: string) => rows.push([when, `${residentMiB(pid).toFixed(0)} MiB`]);
    await sleep(SETTLE_MS / 5);
    note('idle, after its start');
    for (const round of [1, 2]) {
      await each(TOKENS, 32, async (token) => {
        for (const resource of ['tools', 'workflows']) {
          const { status } = await client.read(`${url}${READ}${resource}`, `memory-${round}-${token}`);
          if (status !== 200) throw new Error(`Portico answered ${status}`);
        }
      });
      note(`after ${round * TOKENS} tokens, each with tools and workflows`);
      await sleep(SETTLE_MS);
      note(`${SETTLE_MS / 1000} s later`);
    }
    client.close();
    return table(['When', 'Resident'], rows);
  },
};

function residentMiB(pid: number): number {
  const kib = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  return Number(kib) / 1024;
}
