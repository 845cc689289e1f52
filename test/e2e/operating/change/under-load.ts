import { readdir } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { queryObjects } from 'node:v8';
import { Client } from 'undici';
import { createGateway, type SettingsInput } from '../../../../src/gateway.ts';
import { settingsFor } from '../../../support/gateway.ts';
import { splitLimits } from '../../../support/limits.ts';
import { listOf, startHttpUpstream } from '../../../support/platform/http-upstream.ts';

// Changes the settings of a gateway under load, and prints what its readers saw and what is held more than before.

const [, , CHANGES = '0'] = process.argv;
const READERS = 8;
/** Of all readers, before what is held is looked at first: each reads sixty lists in turn, of twenty callers. */
const READS_BEFORE = 4000;
/** Less than this less is nothing. */
const LITTLE_BYTES = 100_000;

const platform = await startHttpUpstream(
  (request, response) => {
    const name = listOf(request);
    const items = Array.from({ length: 50 }, (_, index) => ({
      id: `${index}`,
      name: `old ${index}`,
      title: `new ${index}`,
    }));
    response.end(JSON.stringify({ [name]: items, nextPageToken: '' }));
  },
  { record: false },
);
/** Each changes one resource in one way: its mapping, its upstream, or the time that it is kept. */
const variants = [
  {},
  { resources: { tools: { fields: { name: 'title' } } } },
  { resources: { workflows: { cache: { ttlMs: 5 } } } },
  { upstream: { timeoutMs: 9000 } },
  { limits: { perCaller: 1_000_000_000 } },
].map((overrides) => splitLimits(settingsFor(platform.url, overrides)).settings);
const gateway = createGateway(variants[0] as SettingsInput, {
  limits: { http: { maxEventLoopDelayMs: 0 } },
});
const url = await gateway.start();
const outcomes = new Map<string, number>();
let isOver = false;

async function readOn(reader: number): Promise<void> {
  for (let turn = 0; !isOver; turn += 1) {
    const name = ['projects', 'workflows', 'tools'][turn % 3];
    const headers = { authorization: `Bearer caller-${reader}-${turn % 20}` };
    const response = await fetch(`${url}/mcp/v1/resources/read?uri=platform://${name}`, { headers });
    const items = response.ok ? ((await response.json()) as { name: string }[]) : [];
    const kinds = new Set(items.map((item) => item.name.split(' ')[0]));
    const outcome = `${response.status} ${items.length} ${kinds.size}`;
    outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
  }
}
async function changeAll(times: number): Promise<void> {
  for (let time = 0; time < times; time += 1) {
    gateway.change(variants[time % variants.length] as SettingsInput);
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
}

/** Has all read while settings change so many times, and until so much has been read. */
async function changeUnderLoad(times: number, reads: number): Promise<void> {
  isOver = false;
  const readers = Array.from({ length: READERS }, (_, reader) => readOn(reader));
  await changeAll(times);
  const count = () => outcomes.values().reduce((total, each) => total + each, 0);
  while (count() < reads) await changeAll(20);
  isOver = true;
  await Promise.all(readers);
  gateway.change(variants[0] as SettingsInput);
}

/** What is held once those of the old ones that are still ending had time for that. */
async function settled() {
  let least = Number.POSITIVE_INFINITY;
  for (let same = 0, tries = 0; same < 10 && tries < 300; tries += 1) {
    await sleep(100);
    globalThis.gc?.();
    const { heapUsed, external } = process.memoryUsage();
    const held = heapUsed + external;
    same = held < least - LITTLE_BYTES ? 0 : same + 1;
    least = Math.min(least, held);
  }
  const descriptors = (await readdir('/proc/self/fd')).length;
  return { held: least, descriptors, clients: queryObjects(Client, { format: 'count' }) };
}

await changeUnderLoad(200, READS_BEFORE);
const before = await settled();
await changeUnderLoad(Number(CHANGES), 0);
const after = await settled();
process.stdout.write(JSON.stringify({ outcomes: Object.fromEntries(outcomes), before, after }));
await gateway.close();
await platform.close();
process.exit(0);
