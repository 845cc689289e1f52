import { mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import type { Status } from '../../src/capabilities/status/gateway-status.ts';
import type { SettingsInput } from '../../src/gateway.ts';
import { insideEnvironment, lookInside } from '../../test/support/load/look-inside.ts';
import { type Client, createClient, each } from '../client.ts';
import { cpuMs } from '../cpu.ts';
import { quantile } from '../figures.ts';
import { servePlatform } from '../platform.ts';
import { HELD, READ, servePortico } from '../portico.ts';
import { freePort } from '../ports.ts';
import { table } from '../report.ts';
import type { Experiment } from '../scenario.ts';
import { REQUESTS, warmUpRpc } from '../scenarios/mcp.ts';
import type { Server } from '../server.ts';
import { takeTurn } from '../turns.ts';
import type { Workshop } from '../workshop.ts';
import { CALLERS, tokenOf } from '../wrk.ts';

const ROUNDS = 6;
const MIB = 1_048_576;

/** What a deployment is sized by: memory a snapshot, what one more caller costs, and reads a core. */
export const sizing: Experiment = {
  name: 'sizing',
  async run(workshop) {
    const client = createClient();
    const parts = [await snapshots(workshop, client), await callers(workshop, client), await reads(workshop)];
    client.close();
    return parts.join('\n');
  },
};

interface Held {
  readonly server: Server;
  /** What all snapshots are charged, in bytes. */
  charged(): Promise<number>;
  /** Bytes that it holds, and processor time that it takes, more than before, for each of so many. */
  each(count: number, work: (index: number) => Promise<unknown>): Promise<{ bytes: number; ms: number }>;
}

/** A Portico that reports what it holds after garbage collection. */
async function serveHeld(workshop: Workshop, platform: Server, settings: Partial<SettingsInput>): Promise<Held> {
  const folder = await mkdtemp(join(workshop.folder, 'held-'));
  const environment = insideEnvironment(folder);
  const port = await freePort();
  const own = { ...settings, admin: { port } };
  const server = await servePortico(workshop, platform.url, { settings: own, environment });
  return {
    server,
    async charged() {
      const response = await fetch(`http://127.0.0.1:${port}/status`);
      const { snapshots } = (await response.json()) as Status;
      return snapshots.bytes;
    },
    async each(count, work) {
      const before = await lookInside(folder);
      const used = cpuMs(server.pid);
      await each(count, 16, work);
      const ms = cpuMs(server.pid) - used;
      const after = await lookInside(folder);
      return { bytes: (after.heapBytes - before.heapBytes) / count, ms: ms / count };
    },
  };
}

/** Reads with new tokens; rejects if one is not answered. */
function reader(client: Client, { url }: Server, resource: string, headers = {}) {
  return async (caller: number) => {
    const { status } = await client.read(`${url}${READ}${resource}`, tokenOf(caller), headers);
    if (status !== 200) throw new Error(`Portico answered ${status}`);
  };
}

/** What else may be made of a snapshot, and how it is asked for. */
const FORMS = {
  'JSON alone': [],
  'with gzip and zstd': [{ 'accept-encoding': 'gzip' }, { 'accept-encoding': 'zstd' }],
} as const;

/** `same`: all callers see the same list, and what was made of it is used again. */
async function snapshots(workshop: Workshop, client: Client): Promise<string> {
  const rows: string[][] = [];
  for (const [tools, count] of [
    [100, 4000],
    [1000, 400],
  ] as const) {
    const platform = await servePlatform(workshop, { tools });
    for (const [form, codings] of Object.entries(FORMS)) {
      const settings = {
        cache: { maxBytes: 1024 * MIB },
        ...HELD,
      };
      const { server, charged, each: held } = await serveHeld(workshop, platform, settings);
      // What is created once, for all readers.
      await each(50, 16, (caller) => reader(client, server, 'tools')(count + caller));
      const before = await charged();
      const { bytes, ms } = await held(count, async (caller) => {
        await reader(client, server, 'tools')(caller);
        for (const headers of codings) await reader(client, server, 'tools', headers)(caller);
      });
      const charge = ((await charged()) - before) / count;
      const list = `${tools} items`;
      const first = codings.length === 0 ? micros(ms) : '';
      rows.push([list, form, kilobytes(charge), kilobytes(bytes), (bytes / charge).toFixed(2), first]);
      await server.stop();
    }
    await platform.stop();
  }
  const head = ['List', 'Made of it', 'Charged', 'Held', 'Held of charged', 'Processor time of the first read'];
  return `A snapshot:\n\n${table(head, rows)}`;
}

/** Callers that have read projects, which are not stored: what stays of each is in tables. */
async function callers(workshop: Workshop, client: Client): Promise<string> {
  const COUNT = 8000;
  const rows: string[][] = [];
  const platform = await servePlatform(workshop, { projects: 100 });
  const ways: Readonly<Record<string, Partial<SettingsInput>>> = {
    'no limits': {},
    'limits.perCaller': { limits: { perCaller: 6000 } },
  };
  for (const [name, settings] of Object.entries(ways)) {
    const { server, each: held } = await serveHeld(workshop, platform, settings);
    await each(500, 16, (caller) => reader(client, server, 'projects')(COUNT + caller));
    const { bytes, ms } = await held(COUNT, reader(client, server, 'projects'));
    rows.push([name, `${bytes.toFixed(0)} bytes`, micros(ms)]);
    await server.stop();
  }
  await platform.stop();
  return `One more caller, whose first read is of 100 projects:\n\n${table(['Settings', 'Held', 'Processor time of the read'], rows)}`;
}

/** Reads a second of one core, over and over by the same callers. */
async function reads(workshop: Workshop): Promise<string> {
  const platform = await servePlatform(workshop, { projects: 100 });
  const server = await servePortico(workshop, platform.url, { settings: HELD });
  const rpc = Object.entries(REQUESTS);
  for (const [, load] of rpc) await warmUpRpc(`${server.url}/mcp`, load);
  const loads = {
    'HTTP, from what is held': { url: `${server.url}${READ}tools` },
    ...Object.fromEntries(
      rpc.map(([name, load]) => [`MCP, from what is held: ${name}`, { ...load, url: `${server.url}/mcp` }]),
    ),
    'HTTP, the platform asked each time': { url: `${server.url}${READ}projects` },
  };
  const rows: string[][] = [];
  for (const [name, load] of Object.entries(loads)) {
    const turns = [];
    for (let turn = 0; turn <= ROUNDS; turn += 1) turns.push(await takeTurn(workshop, { server, load }));
    // The first one warms up. By processor time: that is the same where something else has taken from the core.
    const us = quantile(
      turns.slice(1).map(({ usPerRequest }) => usPerRequest),
      0.5,
    );
    rows.push([name, micros(us / 1000), (1e6 / us).toFixed(0)]);
  }
  const head = ['Read of 100 items', 'Processor time', 'Reads a second of a whole core'];
  return `Reads, by ${CALLERS} callers in turn:\n\n${table(head, rows)}`;
}

function micros(ms: number): string {
  return `${(1000 * ms).toFixed(0)} µs`;
}

function kilobytes(bytes: number): string {
  return `${(bytes / 1000).toFixed(1)} kB`;
}
