import { setTimeout as sleep } from 'node:timers/promises';
import { warmUp } from '../caches.ts';
import { createClient } from '../client.ts';
import { cpuMs } from '../cpu.ts';
import { countRequests, servePlatform } from '../platform.ts';
import { READ, servePortico } from '../portico.ts';
import { serveRedis } from '../redis.ts';
import { serveRelay } from '../relay.ts';
import { median, table } from '../report.ts';
import type { Scenario } from '../scenario.ts';
import { CALLERS, measure } from '../wrk.ts';

/** Long enough for nothing to grow stale while the bench runs. */
const RESOURCES = { tools: { cache: { ttlMs: 3_600_000 } } };
/** Until a fault is noticed, and until Redis is taken up again after it. */
const NOTICED_MS = 500;
const FULL = 'CONFIG SET maxmemory 1';
const ROOM = 'CONFIG SET maxmemory 0';

/** How long hits in memory take while Redis is not as it should be: one process, with one fault after the other. */
export const sharedFaults: Scenario = {
  name: 'shared-faults',
  title: 'Hits in memory while Redis fails',
  async run(workshop) {
    const client = createClient();
    const redis = await serveRedis(workshop);
    const relay = await serveRelay(redis.port);
    const platform = await servePlatform(workshop);
    const shared = { ...redis.shared, url: `redis://127.0.0.1:${relay.port}` };
    const server = await servePortico(workshop, platform.url, { settings: { resources: RESOURCES, shared } });
    const url = `${server.url}${READ}tools`;
    await warmUp(client, url);

    const behaves = (manner: Parameters<typeof relay.behave>[0]) =>
      [() => relay.behave(manner), () => relay.behave('as it is')] as const;
    const faults = [
      ['is well', behaves('as it is')],
      ['is not there', behaves('away')],
      ['closes every connection', behaves('closed')],
      ['says nothing', behaves('silent')],
      ['answers 200 ms late', behaves('late')],
      ['sends what is no reply', behaves('garbage')],
      ['has no memory left', [() => redis.tell(FULL), () => redis.tell(ROOM)]],
      ['is well again', behaves('as it is')],
    ] as const;
    const seen = faults.map((): Turn[] => []);
    for (let round = 0; round <= workshop.pace.rounds; round += 1) {
      for (const [index, [, [begin, end]]] of faults.entries()) {
        await begin();
        await sleep(NOTICED_MS);
        const [begun, before] = [performance.now(), cpuMs(server.pid)];
        const { requestsPerSecond, p99Ms } = await measure(workshop, workshop.pace.seconds, { url });
        const busy = (cpuMs(server.pid) - before) / (performance.now() - begun);
        await end();
        if (round > 0) seen[index]?.push({ p99Ms, usPerRequest: (busy / requestsPerSecond) * 1e6 });
      }
    }
    const asked = await countRequests(platform, client);
    if (asked !== CALLERS) throw new Error(`the platform was asked ${asked} times for ${CALLERS} callers`);
    relay.close();
    client.close();
    const figures = seen.map((turns) => ({
      p99Ms: median(turns.map(({ p99Ms }) => p99Ms)),
      usPerRequest: median(turns.map(({ usPerRequest }) => usPerRequest)),
    }));
    const [well] = figures;
    const rows = figures.map(({ p99Ms, usPerRequest }, index) => [
      faults[index]?.[0] ?? '',
      `${p99Ms.toFixed(1)} ms`,
      ratio(p99Ms, well?.p99Ms),
      `${usPerRequest.toFixed(0)} µs`,
      ratio(usPerRequest, well?.usPerRequest),
    ]);
    const beside = 'beside a Redis that is well';
    return table(['Redis …', 'p99', beside, 'Processor time a request', beside], rows);
  },
};

interface Turn {
  readonly p99Ms: number;
  readonly usPerRequest: number;
}

const ratio = (value: number, whole = Number.NaN) => (value / whole).toFixed(2);
