import { spawnSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { has, type Pinned, pin } from './process.ts';
import { measure, type Throughput } from './wrk.ts';

// The uncached read, beside what would be used instead. Servers take turns on one core; the upstream and wrk have the
// other. Only the ratios mean anything: absolute figures belong to the machine.

const ROUNDS = 5;
const SECONDS = 4;
const SERVER_CORE = 0;
const CLIENT_CORE = 1;
const READ = '/mcp/v1/resources/read?uri=platform://tools';

const missing = ['wrk', 'taskset'].filter((command) => !has(command));
if (missing.length > 0) {
  process.stderr.write(`bench: needs ${missing.join(' and ')} (Debian packages wrk and util-linux)\n`);
  process.exit(1);
}

// This process reads the access log, which must not take from the servers' core.
spawnSync('taskset', ['-pc', String(CLIENT_CORE), String(process.pid)]);
const folder = await mkdtemp(join(tmpdir(), 'portico-bench-'));
const running: Pinned[] = [];
const start = async (...args: Parameters<typeof pin>) => {
  const server = await pin(...args);
  running.push(server);
  return server;
};

try {
  const upstream = await start(CLIENT_CORE, 'bench/servers/upstream.ts');
  const settings = join(folder, 'portico.yaml');
  const each = `{ baseUrl: ${upstream.url} }`;
  await writeFile(
    settings,
    `http: { port: 0 }\nadmin: { enabled: false }\nupstreams: { projects: ${each}, workflows: ${each}, tools: ${each} }\n` +
      'resources: { tools: { cache: { ttlMs: 0 } } }\n',
  );
  const servers = {
    'portico, uncached read': await start(SERVER_CORE, 'src/main.ts', ['serve', '--config', settings]),
    '@fastify/reply-from, streaming': await start(SERVER_CORE, 'bench/servers/reply-from.ts', [upstream.url]),
    'bare node:http, same bytes': await start(SERVER_CORE, 'bench/servers/bare.ts'),
  };
  const results = new Map<string, Throughput[]>(Object.keys(servers).map((name) => [name, []]));
  for (let round = 0; round <= ROUNDS; round += 1) {
    for (const [name, { url }] of Object.entries(servers)) {
      const result = await measure(CLIENT_CORE, url + READ, SECONDS);
      if (round > 0) results.get(name)?.push(result); // the first round warms up
    }
  }
  report(results);
} finally {
  await Promise.all(running.map((server) => server.stop()));
  await rm(folder, { recursive: true });
}

function report(results: Map<string, Throughput[]>): void {
  const rows = [...results].map(([name, runs]) => ({
    name,
    rate: median(runs.map((run) => run.requestsPerSecond)),
    p99: median(runs.map((run) => run.p99Ms)),
  }));
  const portico = rows[0]?.rate ?? Number.NaN;
  process.stdout.write(
    `\n${ROUNDS} rounds of ${SECONDS} s, medians; 100 items, 16 kB; Node ${process.versions.node}\n\n`,
  );
  for (const { name, rate, p99 } of rows) {
    const line = [name.padEnd(32), `${rate.toFixed(0)}/s`.padStart(9), `p99 ${p99.toFixed(1)} ms`.padStart(14)];
    process.stdout.write(`${line.join(' ')}   portico / this: ${(portico / rate).toFixed(2)}\n`);
  }
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}
