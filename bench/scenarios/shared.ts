import { setTimeout as sleep } from 'node:timers/promises';
import type { SettingsInput } from '../../src/gateway.ts';
import { warmUp } from '../caches.ts';
import { type Client, createClient, each } from '../client.ts';
import { cpuMs } from '../cpu.ts';
import { countRequests, servePlatform } from '../platform.ts';
import { READ, servePortico } from '../portico.ts';
import { serveRedis } from '../redis.ts';
import { median, quantile, table } from '../report.ts';
import type { Scenario } from '../scenario.ts';
import type { Server } from '../server.ts';
import { standings } from '../standings.ts';
import { takeTurns } from '../turns.ts';
import { CALLERS, tokenOf } from '../wrk.ts';

/** Long enough for nothing to grow stale while the bench runs. */
const RESOURCES = { tools: { cache: { ttlMs: 3_600_000 } } };
const LIMITS = { total: 1_000_000_000, perCaller: 1_000_000_000 };
const PLATFORM_MS = 20;

/** What it costs to share: a hit in memory, and one in Redis beside a load from the platform. */
export const shared: Scenario = {
  name: 'shared',
  title: 'Replicas that share a Redis',
  async run(workshop) {
    const client = createClient();
    const redis = await serveRedis(workshop);
    const platform = await servePlatform(workshop, PLATFORM_MS);
    const serve = (settings: Partial<SettingsInput>) =>
      servePortico(workshop, platform.url, { settings: { resources: RESOURCES, ...settings } });

    const first = await serve({ shared: redis });
    const second = await serve({ shared: redis });
    // Both have connected by then.
    await sleep(1000);
    const loaded = await readAll(client, first);
    const found = await readAll(client, second);
    const asked = await countRequests(platform, client);
    if (asked !== CALLERS) throw new Error(`the platform was asked ${asked} times for ${CALLERS} callers`);

    const contenders = [];
    for (const [name, settings] of [
      ['by itself', {}],
      ['shared', { shared: redis }],
      ['by itself, with limits', { limits: LIMITS }],
      ['shared, with limits', { shared: redis, limits: LIMITS }],
    ] as const) {
      const server = await serve(settings);
      const url = `${server.url}${READ}tools`;
      await warmUp(client, url);
      contenders.push({ name, server, load: { url } });
    }
    const hits = standings(await takeTurns(workshop, contenders));
    client.close();
    const rows = [
      [`load from a platform that takes ${PLATFORM_MS} ms`, ...cells(loaded)],
      ['found in Redis', ...cells(found)],
    ];
    return `${table(['A read that memory cannot serve', 'Half within', 'p99', 'Processor time'], rows)}\n${hits}`;
  },
};

interface Took {
  readonly ms: readonly number[];
  readonly cpuUs: number;
}

/** Has every caller read once, one after the other. */
async function readAll(client: Client, { url, pid }: Server): Promise<Took> {
  const ms: number[] = [];
  const before = cpuMs(pid);
  await each(CALLERS, 1, async (caller) => {
    const begun = performance.now();
    const { status } = await client.read(`${url}${READ}tools`, tokenOf(caller));
    ms.push(performance.now() - begun);
    if (status !== 200) throw new Error(`a read was answered ${status}`);
  });
  // What is put into Redis comes behind the answer.
  await sleep(500);
  return { ms, cpuUs: ((cpuMs(pid) - before) * 1000) / CALLERS };
}

function cells({ ms, cpuUs }: Took): string[] {
  return [`${median(ms).toFixed(2)} ms`, `${quantile(ms, 0.99).toFixed(1)} ms`, `${cpuUs.toFixed(0)} µs`];
}
