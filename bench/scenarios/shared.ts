import { setTimeout as sleep } from 'node:timers/promises';
import type { SettingsInput } from '../../src/gateway.ts';
import { warmUp } from '../caches.ts';
import { type Client, createClient, each } from '../client.ts';
import { CLIENT_CORE, SERVER_CORE } from '../cores.ts';
import { cpuMs } from '../cpu.ts';
import { countRequests, servePlatform } from '../platform.ts';
import { READ, servePortico } from '../portico.ts';
import { serveRedis } from '../redis.ts';
import { median, quantile, table } from '../report.ts';
import type { Scenario } from '../scenario.ts';
import type { Server } from '../server.ts';
import { standings } from '../standings.ts';
import { takeTurnsAs } from '../turns.ts';
import type { Workshop } from '../workshop.ts';
import { CALLERS, measure, tokenOf } from '../wrk.ts';

/** Long enough for nothing to grow stale while the bench runs. */
const RESOURCES = { tools: { cache: { ttlMs: 3_600_000 } } };
const LIMITS = { total: 1_000_000_000, perCaller: 1_000_000_000 };
const PLATFORM_MS = 20;

/** What it costs to share: a hit in memory, and one in Redis beside a load from the platform. What a second replica adds. */
export const shared: Scenario = {
  name: 'shared',
  title: 'Replicas that share a Redis',
  async run(workshop) {
    const client = createClient();
    const redis = await serveRedis(workshop);
    const hanging = await serveRedis(workshop);
    const platform = await servePlatform(workshop, PLATFORM_MS);
    const serve = (settings: Partial<SettingsInput>, core = SERVER_CORE) =>
      servePortico(workshop, platform.url, { settings: { resources: RESOURCES, ...settings }, core });

    const first = await serve({ shared: redis.shared });
    const second = await serve({ shared: redis.shared });
    // Both have connected by then.
    await sleep(1000);
    const loaded = await readAll(client, first);
    const found = await readAll(client, second);
    const asked = await countRequests(platform, client);
    if (asked !== CALLERS) throw new Error(`the platform was asked ${asked} times for ${CALLERS} callers`);

    const forms: readonly { readonly name: string; readonly settings: Partial<SettingsInput> }[] = [
      { name: 'by itself', settings: {} },
      { name: 'shared', settings: { shared: redis.shared } },
      { name: 'shared, while Redis hangs', settings: { shared: hanging.shared } },
      { name: 'by itself, with limits', settings: { limits: LIMITS } },
      { name: 'shared, with limits', settings: { shared: redis.shared, limits: LIMITS } },
    ];
    let opened = 0;
    const hits = await takeTurnsAs(workshop, {
      forms,
      async open({ settings }) {
        opened += 1;
        // Each in a place of its own: what all load for themselves stands in memory once, and what is found in Redis once a caller.
        const own = settings.shared && { shared: { ...settings.shared, prefix: `hits${opened}` } };
        const server = await serve({ ...settings, ...own });
        const url = `${server.url}${READ}tools`;
        await warmUp(client, url);
        return { server, load: { url } };
      },
      // Whoever is asked to end has to be able to.
      loaded: (isLoaded) => hanging.hang(isLoaded),
    });

    const neighbour = await serve({ shared: redis.shared }, CLIENT_CORE);
    await warmUp(client, `${neighbour.url}${READ}tools`);
    const replicas = await oneAndTwo(workshop, first, neighbour);
    client.close();
    const rows = [
      [`load from a platform that takes ${PLATFORM_MS} ms`, ...cells(loaded)],
      ['found in Redis', ...cells(found)],
    ];
    return `${table(['A read that memory cannot serve', 'Half within', 'p99', 'Processor time'], rows)}\n${standings(hits)}\n${replicas}`;
  },
};

/**
 * Hits in memory of one replica that has a core to itself, and of two that have a core each, which they share with what
 * asks them: both times the machine has no more to give.
 */
async function oneAndTwo(workshop: Workshop, ...[one, other]: readonly [Server, Server]): Promise<string> {
  const load = ({ url }: Server, core: number) => measure(workshop, workshop.pace.seconds, loadFor(url, core));
  const forms = [
    { name: 'one replica', load: async () => [await load(one, CLIENT_CORE)] },
    { name: 'two replicas', load: () => Promise.all([load(one, SERVER_CORE), load(other, CLIENT_CORE)]) },
  ];
  const rates = forms.map((): number[] => []);
  for (let round = 0; round <= workshop.pace.rounds; round += 1) {
    for (const [index, form] of forms.entries()) {
      const seen = await form.load();
      if (round > 0) rates[index]?.push(seen.reduce((total, { requestsPerSecond }) => total + requestsPerSecond, 0));
    }
  }
  const [alone = Number.NaN] = rates.map(median);
  const rows = forms.map(({ name }, index) => {
    const rate = median(rates[index] ?? []);
    return [name, rate.toFixed(0), `${(rate / alone).toFixed(2)} of one`];
  });
  return table(['On two cores, with what asks them', 'Requests a second', 'That is'], rows);
}

const loadFor = (url: string, core: number) => ({ url: `${url}${READ}tools`, core });

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
