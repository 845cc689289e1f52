import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { createClient, each } from '../client.ts';
import { servePlatform } from '../platform.ts';
import { READ, servePortico } from '../portico.ts';
import type { Scenario } from '../scenario.ts';
import { inWorkshop, type Workshop } from '../workshop.ts';

const TOKENS = 10_000;
const SETTLE_MS = 2000;
const IDLE = { name: 'resident memory, idle', unit: 'MB', aim: 100 } as const;
const USED = { name: 'resident memory after 10,000 tokens', unit: 'MB' } as const;

/** Resident memory with default settings, before and after more callers than the cache has room for. */
export const memory: Scenario = {
  name: 'memory',
  rows: [IDLE, USED],
  async run({ pace }) {
    const seen: { idle: number; used: number }[] = [];
    for (let group = 0; group < pace.processes; group += 1) seen.push(await inWorkshop(pace, readOnce));
    return new Map([
      [IDLE.name, { values: seen.map(({ idle }) => idle) }],
      [USED.name, { values: seen.map(({ used }) => used) }],
    ]);
  },
};

async function readOnce(workshop: Workshop): Promise<{ idle: number; used: number }> {
  const client = createClient();
  const platform = await servePlatform(workshop);
  const { url, pid } = await servePortico(workshop, platform.url);
  await sleep(SETTLE_MS);
  const idle = residentMb(pid);
  await each(TOKENS, 32, async (token) => {
    for (const resource of ['tools', 'workflows']) {
      const { status } = await client.read(`${url}${READ}${resource}`, `memory-${token}`);
      if (status !== 200) throw new Error(`Portico answered ${status}`);
    }
  });
  client.close();
  return { idle, used: residentMb(pid) };
}

function residentMb(pid: number): number {
  const kib = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  return (Number(kib) * 1024) / 1e6;
}
