import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, globSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { type AddressInfo, connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
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
const FASTMCP = '4.20.16';

export interface Server {
  /** Without a trailing slash. */
  readonly url: string;
  /** One, or those that share its port. */
  readonly pids: readonly number[];
  readonly startedAt: number;
}

/** Processes and files of a measurement. Nothing of it is left once it is closed. */
export type Rig = Awaited<ReturnType<typeof openRig>>;

/** A file of this repository. */
export function ours(path: string): string {
  return fileURLToPath(new URL(`../${path}`, import.meta.url));
}

export function has(command: string): boolean {
  return spawnSync(command, ['--version'], { env: { ...process.env, PATH } }).error === undefined;
}

/** Builds what is shipped, where that is missing or older than the sources. */
export function build(): void {
  const built = existsSync(ours(BUILT)) ? statSync(ours(BUILT)).mtimeMs : 0;
  if (globSync('src/**/*.ts', { cwd: ours('.') }).every((source) => statSync(ours(source)).mtimeMs < built)) return;
  const { status, stdout } = spawnSync('npm', ['run', 'build'], { cwd: ours('.'), encoding: 'utf8' });
  if (status !== 0) throw new Error(`npm run build failed:\n${stdout}`);
}

export async function openRig() {
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

  /** Resolves once a process prints the address at which it listens. Its output is read to the end. */
  async function listening(child: ChildProcess): Promise<Server> {
    const startedAt = performance.now();
    const { promise, resolve, reject } = Promise.withResolvers<string>();
    let head = '';
    child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      if (head.length < 65_536) head += text;
      const found = /"url":"([^"]+)"/.exec(head)?.[1];
      if (found !== undefined) resolve(found);
    });
    child.on('close', () => reject(new Error('a server ended before it listened')));
    return { url: await promise, pids: [child.pid ?? 0], startedAt };
  }

  const serve = (core: string, script: string, ...args: readonly string[]) =>
    listening(run(core, process.execPath, [ours(`bench/servers/${script}.ts`), ...args]));

  return {
    folder,
    serve,
    run,

    /** The platform behind Portico. Each list of tools is new with `isAlwaysNew`. */
    servePlatform({ delayMs = 0, projects = 0, isAlwaysNew = false } = {}): Promise<Server> {
      return serve(CLIENTS, 'upstream', ...[delayMs, projects, 100, Number(isAlwaysNew)].map(String));
    },

    /** Runs Portico as it is shipped, with log and metrics, in front of one platform that has all three lists. */
    async servePortico(
      platform: string,
      { settings = {}, core = SERVERS, environment = {}, http = {} } = {},
    ): Promise<Server> {
      const { port } = { port: await freePort(), ...http };
      files += 1;
      const file = join(folder, `portico-${files}.yaml`);
      const upstream = { baseUrl: platform };
      const upstreams = { projects: upstream, workflows: upstream, tools: upstream };
      // JSON is YAML.
      writeFileSync(file, JSON.stringify({ http: { port, ...http }, admin: { port: 0 }, upstreams, ...settings }));
      const startedAt = performance.now();
      const args = ['--single-threaded-gc', ours(BUILT), 'serve', '--config', file];
      const child = run(core, process.execPath, args, environment);
      child.stdout?.resume();
      await accepting(port);
      return { url: `http://127.0.0.1:${port}`, pids: [child.pid ?? 0], startedAt };
    },

    /** nginx as a cache for each `Authorization`, access log on. `undefined` where this machine has none. */
    async serveNginx(origin: string): Promise<Server | undefined> {
      if (!has('nginx')) return missing('nginx (Debian package nginx)');
      const port = await freePort();
      const home = join(folder, 'nginx');
      mkdirSync(home, { recursive: true });
      writeFileSync(join(home, 'nginx.conf'), nginxConfiguration(home, port, new URL(origin).host));
      const startedAt = performance.now();
      const child = run(SERVERS, 'nginx', ['-p', home, '-e', join(home, 'error.log'), '-c', join(home, 'nginx.conf')]);
      await accepting(port);
      return { url: `http://127.0.0.1:${port}`, pids: [child.pid ?? 0], startedAt };
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

/** How often a turn is repeated in which no request was answered, as on a machine that was busy with something else. */
const ATTEMPTS = 3;

/** Loads a server for some seconds, and returns how many requests were answered. Rejects where one failed. */
export async function send(rig: Rig, seconds: number, load: Load): Promise<number> {
  let text = '';
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    text = await runWrk(rig, seconds, load);
    const requests = Number(/(\d+) requests in/.exec(text)?.[1]);
    if (/Non-2xx|Socket errors/.test(text)) break;
    if (requests > 0) return requests;
  }
  throw new Error(`wrk at ${load.url}:\n${text}`);
}

/** Returns what wrk printed. */
async function runWrk(rig: Rig, seconds: number, load: Load): Promise<string> {
  const { url, headers = {}, body, callers = CALLERS, connections = 32 } = load;
  const fields = Object.entries(headers).flatMap(([name, value]) => ['-H', `${name}: ${value}`]);
  const wrk = rig.run(CLIENTS, 'wrk', [
    // wrk counts whole seconds: it is interrupted earlier, and reports what it saw until then.
    ...['-t1', `-c${connections}`, '-d1h', '--timeout', '60s', '-s', ours('bench/callers.lua'), ...fields],
    ...[url, '--', String(callers), 'none', ...(body === undefined ? [] : ['POST', body])],
  ]);
  let text = '';
  wrk.stdout?.setEncoding('utf8').on('data', (piece: string) => {
    text += piece;
  });
  const interruption = setTimeout(() => wrk.kill('SIGINT'), seconds * 1000);
  await once(wrk, 'close');
  clearTimeout(interruption);
  return text;
}

/** Processor time of a server, in milliseconds, so far. */
export function cpuMsOf({ pids }: Server): number {
  return pids.reduce((sum, pid) => sum + cpuMs(pid), 0);
}

/** That of the threads of a process and its children (`/proc/PID/schedstat`). */
function cpuMs(pid: number): number {
  let total = 0;
  for (const thread of readdirSync(`/proc/${pid}/task`)) {
    const [nanoseconds] = readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ');
    total += Number(nanoseconds) / 1e6;
    const children = readFileSync(`/proc/${pid}/task/${thread}/children`, 'utf8').split(' ').filter(Boolean);
    for (const child of children) total += cpuMs(Number(child));
  }
  return total;
}

/** Sends one request and returns its body. Rejects for any status but 200. */
export async function ask(url: string, token: string, { headers = {}, body }: Partial<Load> = {}): Promise<string> {
  const init = { headers: { ...headers, authorization: `Bearer ${token}` } };
  const response = await fetch(url, body === undefined ? init : { ...init, method: 'POST', body });
  const text = await response.text();
  if (response.status !== 200) throw new Error(`${url} answered ${response.status}: ${text.slice(0, 300)}`);
  return text;
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

async function accepting(port: number): Promise<void> {
  for (let tries = 0; tries < 2000; tries += 1) {
    const socket = connect(port, '127.0.0.1');
    const accepted = await once(socket, 'connect').then(
      () => true,
      () => false,
    );
    socket.destroy();
    if (accepted) return;
    await sleep(5);
  }
  throw new Error(`nothing listens on port ${port}`);
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
  keepalive_timeout 65s;
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
