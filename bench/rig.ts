import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

/** Servers take turns on the first core; the clients, the platforms and the bench itself use the second. */
export const SERVERS = '0';
export const CLIENTS = '1';

/** The read that all servers of a comparison answer. */
export const READ = '/mcp/v1/resources/read?uri=platform://';

/** Callers whose tokens the servers are warmed up with. */
export const CALLERS = 1000;

/** Debian keeps nginx where only root's PATH leads. */
const PATH = [process.env['PATH'], '/usr/sbin', '/usr/local/sbin'].join(':');
const GRACE_MS = 10_000;
const BUILT = 'dist/main.js';
const FLAGS = ['--single-threaded-gc', '--max-semi-space-size=16']; // Those of the image.
const FASTMCP = '4.20.16';

export interface Server {
  /** Without a trailing slash. */
  readonly url: string;
  /** One, or those that share its port. */
  readonly pids: readonly number[];
  readonly startedAt: number;
}

/** Processes and files of a measurement. */
export type Rig = Awaited<ReturnType<typeof openRig>>;

/** A file of this repository. */
export function ours(path: string): string {
  return fileURLToPath(new URL(`../${path}`, import.meta.url));
}

export function has(command: string): boolean {
  return spawnSync(command, ['--version'], { env: { ...process.env, PATH } }).error === undefined;
}

/** Builds what is shipped. */
export function build(): void {
  const { status, stdout } = spawnSync('npm', ['run', 'build'], { cwd: ours('.'), encoding: 'utf8' });
  if (status !== 0) throw new Error(`npm run build failed:\n${stdout}`);
}

/** Runs `work` with a rig of which nothing is left afterwards. */
export async function inRig<T>(work: (rig: Rig) => Promise<T>): Promise<T> {
  const rig = await openRig();
  try {
    return await work(rig);
  } finally {
    await rig.close();
  }
}

async function openRig() {
  const folder = await mkdtemp(join(tmpdir(), 'portico-bench-'));
  const running = new Set<ChildProcess>();
  let files = 0;

  function run(core: string, command: string, args: readonly string[], environment: object = {}): ChildProcess {
    const child = spawn('taskset', ['-c', core, command, ...args], {
      stdio: ['ignore', 'pipe', 'inherit'],
      env: { ...process.env, PATH, ...environment },
    });
    running.add(child);
    child.on('error', () => running.delete(child));
    child.on('close', () => running.delete(child));
    return child;
  }

  /** Runs a server that is ready once it accepts connections on `port`. */
  async function accepting(port: number, command: string, args: readonly string[], core = SERVERS): Promise<Server> {
    const startedAt = performance.now();
    const child = run(core, command, args);
    child.stdout?.resume();
    const url = `http://127.0.0.1:${port}`;
    for (let tries = 0; tries < 2000; tries += 1) {
      if (await fetch(`${url}/livez`).catch(() => undefined)) return { url, pids: [child.pid ?? 0], startedAt };
      await sleep(5);
    }
    throw new Error(`nothing listens on port ${port}`);
  }

  /** Runs one of `bench/servers`, which prints its address. */
  async function serve(core: string, script: string, ...args: readonly (string | number)[]): Promise<Server> {
    const startedAt = performance.now();
    const child = run(core, process.execPath, [ours(`bench/servers/${script}.ts`), ...args.map(String)]);
    const [line] = await Promise.race([once(child.stdout ?? child, 'data'), once(child, 'close')]);
    child.stdout?.resume();
    return { url: JSON.parse(String(line)).url, pids: [child.pid ?? 0], startedAt };
  }

  return {
    folder,
    serve,
    run,

    /** Runs Portico as it is shipped, with log and metrics, in front of one platform that has all three lists. */
    async servePortico(platform: string, { settings = {}, core = SERVERS, http = {} } = {}): Promise<Server> {
      const { port } = { port: await freePort(), ...http };
      files += 1;
      const file = join(folder, `portico-${files}.yaml`);
      const upstream = { baseUrl: platform };
      const upstreams = { projects: upstream, workflows: upstream, tools: upstream };
      // JSON is YAML.
      writeFileSync(file, JSON.stringify({ http: { port, ...http }, admin: { port: 0 }, upstreams, ...settings }));
      return accepting(port, process.execPath, [...FLAGS, ours(BUILT), 'serve', '--config', file], core);
    },

    /** nginx as a cache for each `Authorization`, access log on. `undefined` where this machine has none. */
    async serveNginx(origin: string): Promise<Server | undefined> {
      if (!has('nginx')) return missing('nginx (Debian package nginx)');
      const port = await freePort();
      const home = join(folder, 'nginx');
      mkdirSync(home, { recursive: true });
      writeFileSync(join(home, 'nginx.conf'), nginxConfiguration(home, port, new URL(origin).host));
      return accepting(port, 'nginx', ['-p', home, '-e', join(home, 'error.log'), '-c', join(home, 'nginx.conf')]);
    },

    /** FastMCP, installed on first use into `node_modules/.cache`. `undefined` where that fails. */
    async serveFastmcp(): Promise<Server | undefined> {
      const home = ours(`node_modules/.cache/bench-fastmcp-${FASTMCP}`);
      const entry = `${home}/node_modules/fastmcp/dist/FastMCP.js`;
      const flags = ['--no-save', '--no-audit', '--no-fund', '--ignore-scripts', '--prefix', home];
      if (!existsSync(entry)) spawnSync('npm', ['install', ...flags, `fastmcp@${FASTMCP}`], { stdio: 'ignore' });
      return existsSync(entry) ? serve(SERVERS, 'fastmcp-rpc', entry) : missing(`fastmcp ${FASTMCP} from npm`);
    },

    async close(): Promise<void> {
      const ends = [...running].map(async (child) => {
        child.kill('SIGTERM');
        const late = setTimeout(() => child.kill('SIGKILL'), GRACE_MS);
        await once(child, 'close');
        clearTimeout(late);
      });
      await Promise.all(ends);
      await rm(folder, { recursive: true, force: true });
    },
  };
}

function missing(what: string): undefined {
  process.stderr.write(`bench: ${what} is missing; its rows are left out\n`);
}

/** What is sent, over and over, by 1,000 callers in turn. */
export interface Load {
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** What is posted. @default nothing: it is a `GET` */
  readonly body?: string;
  readonly callers?: number;
  readonly connections?: number;
}

/** Loads a server for some seconds, and returns how many requests were answered. Rejects where one failed, or none was answered. */
export async function send(rig: Rig, seconds: number, load: Load): Promise<number> {
  const { url, headers = {}, body, callers = CALLERS, connections = 32 } = load;
  const fields = Object.entries(headers).flatMap(([name, value]) => ['-H', `${name}: ${value}`]);
  const wrk = rig.run(CLIENTS, 'wrk', [
    // wrk counts whole seconds: it is interrupted earlier, and reports what it saw until then.
    ...['-t1', `-c${connections}`, '-d1h', '--timeout', '60s', '-s', ours('bench/callers.lua'), ...fields],
    ...[url, '--', String(callers), ...(body === undefined ? [] : ['POST', body])],
  ]);
  const interruption = setTimeout(() => wrk.kill('SIGINT'), seconds * 1000);
  const printed = wrk.stdout === null ? '' : await text(wrk.stdout);
  clearTimeout(interruption);
  const requests = Number(/(\d+) requests in/.exec(printed)?.[1]);
  if (requests > 0 && !/Non-2xx|Socket errors/.test(printed)) return requests;
  throw new Error(`wrk at ${url}:\n${printed}`);
}

/** Processor time of a server with its threads and children (`/proc/PID/schedstat`), in milliseconds, so far. */
export function cpuMsOf(pids: readonly (number | string)[]): number {
  let total = 0;
  for (const pid of pids) {
    for (const thread of readdirSync(`/proc/${pid}/task`)) {
      const [nanoseconds] = readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ');
      const children = readFileSync(`/proc/${pid}/task/${thread}/children`, 'utf8').split(' ').filter(Boolean);
      total += Number(nanoseconds) / 1e6 + cpuMsOf(children);
    }
  }
  return total;
}

/** Sends one request and returns its body. Rejects for any status but 200. */
export async function ask(url: string, token: string, { headers = {}, body }: Partial<Load> = {}): Promise<string> {
  const init = { headers: { ...headers, authorization: `Bearer ${token}` } };
  const response = await fetch(url, body === undefined ? init : { ...init, method: 'POST', body });
  const answer = await response.text();
  if (response.status !== 200) throw new Error(`${url} answered ${response.status}: ${answer.slice(0, 300)}`);
  return answer;
}

/** Runs `work` for 1 up to `count`, 32 of them at once. */
export async function each(count: number, work: (index: number) => Promise<unknown>): Promise<void> {
  let next = 0;
  const lane = async () => {
    while (next < count) {
      next += 1;
      await work(next);
    }
  };
  await Promise.all(Array.from({ length: 32 }, lane));
}

/** A loopback port that nothing listens on now. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

function nginxConfiguration(home: string, port: number, origin: string): string {
  const scratch = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((use) => `${use}_temp_path ${home}/${use};`);
  return `
daemon off;
pid ${home}/nginx.pid;
${process.getuid?.() === 0 ? 'user root;' : ''}
worker_processes 1;
events { worker_connections 4096; }
http {
  ${scratch.join(' ')}
  access_log ${home}/access.log combined buffer=64k flush=1s;
  keepalive_requests 1000000000;
  proxy_cache_path ${home}/cache levels=1:2 keys_zone=reads:16m max_size=1g inactive=1h use_temp_path=off;
  upstream origin { server ${origin}; keepalive 32; }
  server {
    listen 127.0.0.1:${port} backlog=4096;
    location / {
      proxy_pass http://origin;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_cache reads;
      proxy_cache_key "$http_authorization $request_uri";
      proxy_cache_valid 200 1h;
      proxy_cache_lock on;
    }
  }
}
`;
}
