import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  ask,
  CALLERS,
  CLIENTS,
  cpuMsOf,
  each,
  freePort,
  inRig,
  type Load,
  READ,
  type Rig,
  SERVERS,
  type Server,
  send,
} from './rig.ts';

/** One line of the table. Of a ratio, more is better; of all others, less. */
export interface Row {
  readonly unit: 'ratio' | 'round trips' | 'ms' | 'MB';
  readonly aim?: number;
}

/** Values of each row; rows whose reference this machine lacks are left out. */
export type Samples = Record<string, number[]>;

export interface Scenario {
  readonly rows: Readonly<Record<string, Row>>;
  measure(pace: Pace): Promise<Samples>;
}

/** Turns of each server, how long one takes, and how often new processes are started: V8 compiles each differently. */
export interface Pace {
  readonly rounds: number;
  readonly seconds: number;
  readonly processes: number;
}

interface Contender {
  readonly server: Server;
  readonly load: Load;
}

/** After so many requests, V8 has compiled what a server calls over and over; slower servers get so many seconds. */
const WARM_UP = { requests: 50_000, seconds: 3.5 };

/** Settings under which nothing grows stale while the bench runs, and under which nothing is stored. */
const HELD = { resources: { tools: { cache: { ttlMs: 3_600_000 } } } };
const UNSTORED = { resources: { tools: { cache: { ttlMs: 0 } } } };
const PAGINATION = { kind: 'page', sizeParam: 'pageSize', pageParam: 'page', total: 'total' };
const paged = (size: number) => ({ resources: { projects: { pagination: { ...PAGINATION, size } } } });
/** A platform that is far away. */
const DELAY_MS = 50;

function add(samples: Samples, row: string, value: number): void {
  samples[row] = [...(samples[row] ?? []), value];
}

/**
 * Compares `of` with `to` by processor time a request. Servers take short turns, every other round in reverse, so that noise affects
 * both. A row is named `<of> : <to>`. The end of a turn cuts requests that a server has spent time on, so slow ones need longer turns.
 */
function compared(
  rows: Readonly<Record<string, Row>>,
  open: (rig: Rig) => Promise<{ servers: Record<string, Contender | undefined>; check?: () => Promise<void> }>,
  longer = 1,
): Scenario {
  return {
    rows,
    async measure({ rounds, seconds: shortSeconds, processes }) {
      const seconds = longer * shortSeconds;
      const samples: Samples = {};
      for (let group = 0; group < processes; group += 1) {
        await inRig(async (rig) => {
          const { servers, check } = await open(rig);
          const present = Object.entries(servers).flatMap(([name, one]) =>
            one === undefined ? [] : [{ name, ...one }],
          );
          for (const { load } of present) {
            for (let sent = 0, spent = 0; sent < WARM_UP.requests && spent < WARM_UP.seconds; spent += seconds) {
              sent += await send(rig, seconds, load);
            }
          }
          for (let round = 0; round < rounds; round += 1) {
            const us = new Map<string, number>();
            for (const { name, server, load } of round % 2 === 0 ? present : present.toReversed()) {
              const before = cpuMsOf(server.pids);
              const requests = await send(rig, seconds, load);
              us.set(name, (cpuMsOf(server.pids) - before) / requests);
            }
            for (const row of Object.keys(rows)) {
              const [of = Number.NaN, to = Number.NaN] = row.split(' : ').map((name) => us.get(name));
              if (to / of > 0) add(samples, row, to / of);
            }
          }
          await check?.();
        });
      }
      return samples;
    },
  };
}

const tools = (server: Server): Contender => ({ server, load: { url: `${server.url}${READ}tools` } });

/** Rejects where the platform was requested more often than once for each caller: then not all reads were hits. */
async function checkHits(platform: Server): Promise<void> {
  const requests = Number(await ask(`${platform.url}/count`, 'bench'));
  if (requests !== CALLERS) throw new Error(`the platform received ${requests} requests for ${CALLERS} callers`);
}

async function warmUp({ load }: Contender): Promise<string> {
  let last = '';
  await each(CALLERS, async (caller) => {
    last = await ask(load.url, `bench-${caller}`, load);
  });
  return last;
}

const cached = compared(
  {
    'cached read : bare Koa': { unit: 'ratio', aim: 1 },
    'cached read : bare': { unit: 'ratio' },
    'cached read : nginx': { unit: 'ratio' },
  },
  async (rig) => {
    const platform = await rig.serve(CLIENTS, 'upstream');
    const portico = tools(await rig.servePortico(platform.url, { settings: HELD }));
    const bare = tools(await rig.serve(SERVERS, 'bare'));
    const koa = tools(await rig.serve(SERVERS, 'bare-koa'));
    const proxy = await rig.serveNginx((await rig.serve(CLIENTS, 'bare')).url);
    const nginx = proxy && tools(proxy);
    const bodies = await Promise.all([portico, bare, koa, ...(nginx ? [nginx] : [])].map(warmUp));
    if (new Set(bodies).size !== 1) throw new Error('the servers send different bytes');
    return { servers: { 'cached read': portico, bare, 'bare Koa': koa, nginx }, check: () => checkHits(platform) };
  },
);

const REVISION = '2026-07-28';
const CALLS = {
  'resources/read': { uri: 'platform://tools' },
  'tools/call': { name: 'list_installed_tools', arguments: {} },
};

/** A message of the newest revision, or of the last that FastMCP speaks. */
function message(method: keyof typeof CALLS, isModern: boolean): Omit<Load, 'url'> {
  const params = CALLS[method];
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': REVISION,
    'io.modelcontextprotocol/clientInfo': { name: 'bench', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': {},
  };
  const name = 'uri' in params ? params.uri : params.name;
  const headers = isModern
    ? { 'mcp-protocol-version': REVISION, 'mcp-method': method, 'mcp-name': name }
    : { 'mcp-protocol-version': '2025-11-25' };
  return {
    headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream', ...headers },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: isModern ? { ...params, _meta } : params }),
  };
}

const mcp = compared(
  Object.fromEntries(
    Object.keys(CALLS).flatMap((method) => [
      [`${method} : bare ${method}`, { unit: 'ratio', aim: 0.35 }],
      [`${method} : SDK ${method}`, { unit: 'ratio', aim: 6 }],
      [`${method} : FastMCP ${method}`, { unit: 'ratio', aim: 6 }],
    ]),
  ),
  async (rig) => {
    const platform = await rig.serve(CLIENTS, 'upstream');
    const portico = await rig.servePortico(platform.url, { settings: HELD });
    const sdk = await rig.serve(SERVERS, 'sdk-rpc');
    const fastmcp = await rig.serveFastmcp();
    const servers: Record<string, Contender | undefined> = {};
    for (const method of Object.keys(CALLS) as (keyof typeof CALLS)[]) {
      const at = (server: Server, isModern = true): Contender => {
        return { server, load: { ...message(method, isModern), url: `${server.url}/mcp` } };
      };
      servers[method] = at(portico);
      const file = join(rig.folder, method.replace('/', '-'));
      writeFileSync(file, await warmUp(at(portico)));
      servers[`bare ${method}`] = at(await rig.serve(SERVERS, 'bare', file));
      servers[`SDK ${method}`] = at(sdk);
      servers[`FastMCP ${method}`] = fastmcp && at(fastmcp, false);
    }
    return { servers, check: () => checkHits(platform) };
  },
);

const uncached = compared(
  {
    'read of a new list : reply-from, new': { unit: 'ratio', aim: 0.35 },
    'read of a known list : reply-from': { unit: 'ratio', aim: 0.75 },
  },
  async (rig) => {
    const few = ({ server, load }: Contender): Contender => ({ server, load: { ...load, connections: 8 } });
    const both = async (isAlwaysNew: boolean) => {
      const { url } = await rig.serve(CLIENTS, 'upstream', 0, Number(isAlwaysNew));
      const portico = tools(await rig.servePortico(url, { settings: UNSTORED }));
      return [few(portico), few(tools(await rig.serve(SERVERS, 'reply-from', url)))] as const;
    };
    const [[known, ofKnown], [fresh, ofFresh]] = [await both(false), await both(true)];
    const servers = { 'read of a new list': fresh, 'reply-from, new': ofFresh, 'read of a known list': known };
    return { servers: { ...servers, 'reply-from': ofKnown } };
  },
  4,
);

/** CPU time a read, of one process and of two on one port, each with both cores. */
const processes = compared({ 'two processes on one port : one process': { unit: 'ratio', aim: 0.9 } }, async (rig) => {
  const platform = await rig.serve(CLIENTS, 'upstream');
  const core = `${SERVERS},${CLIENTS}`;
  const one = tools(await rig.servePortico(platform.url, { settings: HELD, core }));
  const http = { port: await freePort(), reusePort: true };
  const both = [0, 1].map(() => rig.servePortico(platform.url, { settings: HELD, core, http }));
  const [first, second] = [await both[0], await both[1]];
  if (first === undefined || second === undefined) throw new Error('there are two');
  const two = tools({ ...first, pids: [...first.pids, ...second.pids] });
  for (const contender of [one, two]) await warmUp(contender);
  const load = { ...two.load, connections: 64 };
  return { servers: { 'one process': one, 'two processes on one port': { ...two, load } } };
});

const LARGE = 100_000;

/** How long a caller who reads from cache waits while another one reads a list a thousand times as long. */
const large: Scenario = {
  rows: { 'p99 of cached reads beside reads of 100,000 items': { unit: 'ms', aim: 40 } },
  measure: ({ processes: starts, rounds }) =>
    inRig(async (rig) => {
      const platform = await rig.serve(CLIENTS, 'upstream', LARGE);
      const { url } = await rig.servePortico(platform.url, { settings: paged(1000) });
      const load = { url: `${url}${READ}projects`, callers: 1, connections: 1 };
      const values: number[] = [];
      for (let turn = 0; turn <= (starts * rounds) / 2; turn += 1) {
        const times = await paced(send(rig, 3, load), () => ask(`${url}${READ}tools`, 'small'));
        // The first one warms up.
        if (turn > 0) values.push(times.toSorted((a, b) => a - b)[Math.floor(times.length * 0.99)] ?? Number.NaN);
      }
      return { 'p99 of cached reads beside reads of 100,000 items': values };
    }),
};

const pages: Scenario = {
  rows: { '50 pages with a known total': { unit: 'round trips', aim: 4.5 } },
  measure: () =>
    inRig(async (rig) => {
      const platform = await rig.serve(CLIENTS, 'upstream', 50 * 100, 0, DELAY_MS);
      const { url } = await rig.servePortico(platform.url, { settings: paged(100) });
      const values: number[] = [];
      for (let read = 0; read < 20; read += 1) {
        const begun = performance.now();
        await ask(`${url}${READ}projects`, 'bench');
        if (read >= 10) values.push((performance.now() - begun) / DELAY_MS);
      }
      return { '50 pages with a known total': values };
    }),
};

/** Begins `work` every 4 ms, however long the last one takes, until `ended`; returns how long each took, in milliseconds. */
async function paced(ended: Promise<unknown>, work: () => Promise<unknown>): Promise<number[]> {
  const times: number[] = [];
  const running: Promise<void>[] = [];
  let isOver = false;
  const end = () => {
    isOver = true;
  };
  ended.then(end, end);
  for (let due = performance.now(); !isOver; due += 4) {
    await sleep(Math.max(0, due - performance.now()));
    const begun = performance.now();
    running.push(work().then(() => void times.push(performance.now() - begun)));
  }
  await Promise.all([...running, ended]);
  return times;
}

const memory: Scenario = {
  rows: {
    'resident memory, idle': { unit: 'MB', aim: 100 },
    'resident memory after 10,000 tokens': { unit: 'MB', aim: 200 },
  },
  async measure({ processes: starts }) {
    const samples: Samples = { 'resident memory, idle': [], 'resident memory after 10,000 tokens': [] };
    const [idle = [], used = []] = Object.values(samples);
    for (let start = 0; start < starts; start += 1) {
      await inRig(async (rig) => {
        const platform = await rig.serve(CLIENTS, 'upstream');
        const { url, pids } = await rig.servePortico(platform.url);
        await sleep(2000);
        idle.push(residentMb(pids[0] ?? 0));
        await each(10_000, async (token) => {
          for (const name of ['tools', 'workflows']) await ask(`${url}${READ}${name}`, `memory-${token}`);
        });
        used.push(residentMb(pids[0] ?? 0));
      });
    }
    return samples;
  },
};

function residentMb(pid: number): number {
  const kib = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  return (Number(kib) * 1024) / 1e6;
}

/** From the start of the process to the first 200 of `/readyz`. */
const start: Scenario = {
  rows: { 'start to ready': { unit: 'ms', aim: 400 } },
  async measure() {
    const samples: Samples = {};
    for (let round = 0; round <= 8; round += 1) {
      await inRig(async (rig) => {
        const { url, startedAt } = await rig.servePortico('http://127.0.0.1:9');
        await ask(`${url}/readyz`, 'bench');
        // The first round brings the files into memory.
        if (round > 0) add(samples, 'start to ready', performance.now() - startedAt);
      });
    }
    return samples;
  },
};

/** All that `npm run bench` measures, in this order. */
export const SCENARIOS: Readonly<Record<string, Scenario>> = {
  cached,
  mcp,
  uncached,
  processes,
  pages,
  large,
  start,
  memory,
};
