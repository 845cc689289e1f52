import { randomUUID } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Agent, request } from 'undici';
import { onCleanup } from '../cleanup.ts';
import { eventually } from '../eventually.ts';
import { boundedSettings } from '../process/limits-of-process.ts';
import { porticoEnvironment, runPortico } from '../process/process.ts';

/** One of several processes of Portico that share a Redis. */
export type Replica = Awaited<ReturnType<typeof startReplica>>;

export interface ReplicasOptions {
  readonly folder: string;
  readonly platformUrl: string;
  /** @default enough for a machine that has much else to do */
  readonly timeoutMs?: number;
  /** How long lists are kept, in YAML. */
  readonly cache?: string;
  readonly more?: string;
  /** Bound on the heap, in MB. @default Node's own */
  readonly heapMb?: number;
}

/** Starts one more replica on this Redis, and waits until it has it. */
export async function startReplica(redisUrl: string, options: ReplicasOptions) {
  const { folder, platformUrl, timeoutMs = 5000, cache = '', more = '', heapMb } = options;
  // Each has its own: what one is given must be no change for the others.
  const own = randomUUID();
  const keySecretFile = join(folder, `secret-${own}`);
  await writeFile(keySecretFile, 'a secret of the deployment, long enough');
  const file = join(folder, `portico-${own}.yaml`);
  const { NODE_OPTIONS = '' } = porticoEnvironment();
  const heap = heapMb === undefined ? {} : { NODE_OPTIONS: `${NODE_OPTIONS} --max-old-space-size=${heapMb}` };
  const { yaml, env } = boundedSettings(
    `
http: { port: 0 }
admin: { port: 0 }
shared: { url: "${redisUrl}", keySecretFile: "${keySecretFile}", timeoutMs: ${timeoutMs} }
upstreams: { platform: { baseUrl: "${platformUrl}", maxQueue: 100000 } }
resources: { projects: { upstream: platform }, workflows: { upstream: platform, cache: { ${cache} } }, tools: { upstream: platform, cache: { ${cache} } } }
${more}`,
    heap,
  );
  await writeFile(file, yaml);
  const process = runPortico(['--config', file], env);
  const url = await process.ready;
  const adminUrl = /"adminUrl":"([^"]+)"/.exec(process.stdout())?.[1] ?? '';
  const replica = { process, url, adminUrl };
  await eventually(async () => (await metric(replica, 'portico_shared_up')) === 1);
  return replica;
}

/** The value of a series of a replica's metrics now; 0 where there is none. */
export async function metric({ adminUrl }: Pick<Replica, 'adminUrl'>, series: string): Promise<number> {
  const text = await (await fetch(`${adminUrl}/metrics`)).text();
  const line = text.split('\n').find((each) => each.startsWith(`${series} `));
  return Number(line?.slice(series.length) ?? 0);
}

/** Reads a list as a caller, over connections that are kept open. */
export function createReader() {
  const dispatcher = new Agent({ connections: 64 });
  onCleanup(() => dispatcher.destroy());
  return async ({ url }: Pick<Replica, 'url'>, name: string, token: string) => {
    const { statusCode, body } = await request(`${url}/mcp/v1/resources/read?uri=platform://${name}`, {
      dispatcher,
      headers: { authorization: `Bearer ${token}` },
    });
    return { status: statusCode, body: await body.text() };
  };
}

/** Does `work` again and again, so many times at once, until the returned function is called. */
export function repeatAtOnce(atOnce: number, work: () => Promise<void>): () => Promise<void> {
  let isOver = false;
  const done = forAll(Array.from({ length: atOnce }), atOnce, async () => {
    while (!isOver) await work();
  });
  return () => {
    isOver = true;
    return done;
  };
}

/** Does `work` for all of them, so many at a time. */
export async function forAll<T>(all: Iterable<T>, atOnce: number, work: (one: T) => Promise<void>): Promise<void> {
  const rest = all[Symbol.iterator]();
  const worker = async () => {
    for (let next = rest.next(); next.done !== true; next = rest.next()) await work(next.value);
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
}
