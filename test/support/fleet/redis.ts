import { writeFile } from 'node:fs/promises';
import { createConnection, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { RedisClient } from '@redis/client';
import { eventually } from '../eventually.ts';
import { listen, nextPort } from '../listening.ts';
import { newFolder, type RunningProcess, startProcess } from '../process/process.ts';

/** Makes clients of one class. `createClient` makes a class for each place, with all commands of Redis: ten milliseconds. */
const createClient = RedisClient.factory({ RESP: 2 });

export type Redis = Awaited<ReturnType<typeof startRedis>>;

/**
 * A real redis-server with these arguments beside its own, on a Unix socket in a folder of its own. It keeps nothing on disk but
 * where it is told to, and ends with the test.
 */
export async function startRedis(...args: readonly string[]) {
  const folder = await newFolder();
  const socketPath = join(folder, 'socket');
  let server: RunningProcess | undefined;

  async function command(...words: readonly string[]): Promise<unknown> {
    const client = createClient({ socket: { path: socketPath, tls: false, reconnectStrategy: false } });
    client.on('error', () => {});
    await client.connect();
    try {
      return await client.sendCommand([...words]);
    } finally {
      client.destroy();
    }
  }

  async function start(): Promise<void> {
    const own = ['--port', '0', '--unixsocket', socketPath, '--dir', folder, '--save', '', '--daemonize', 'no'];
    server = startProcess('redis-server', [...own, ...args]);
    await eventually(() =>
      command('PING').then(
        () => true,
        () => false,
      ),
    );
  }

  await start();
  return {
    socketPath,
    /** What `shared.url` calls it. */
    url: `unix://${socketPath}`,
    folder,
    /** Sends it a command, as an operator would. */
    command,
    /** Starts it again in the same folder. */
    start,
    /** Ends it as `kill` would, or another signal. */
    async stop(signal?: NodeJS.Signals): Promise<void> {
      await server?.stop(signal);
    },
  };
}

/** What a Redis shows of itself over TLS, and by whom it believes clients, in PEM. */
interface RedisIdentity {
  readonly ca: string;
  readonly cert: string;
  readonly key: string;
}

/** Has it listen for TLS, too, for clients that show a certificate, and gives the port. */
export async function listenForTls({ folder, command }: Redis, { ca, cert, key }: RedisIdentity): Promise<number> {
  const settings = ['tls-auth-clients', 'yes'];
  for (const [name, text] of Object.entries({ 'tls-ca-cert-file': ca, 'tls-cert-file': cert, 'tls-key-file': key })) {
    await writeFile(join(folder, name), text);
    settings.push(name, join(folder, name));
  }
  for (let times = 0; times < 10; times += 1) {
    const port = nextPort();
    const isTaken = await command('CONFIG', 'SET', ...settings, 'tls-port', `${port}`).then(
      () => false,
      () => true,
    );
    if (!isTaken) return port;
  }
  throw new Error('no port for TLS');
}

export type RedisProxy = Awaited<ReturnType<typeof startRedisProxy>>;

/** Is given what Redis says, and says it in its own way and time; `undefined`: nothing. */
export type Treatment = (bytes: Buffer, say: (bytes: Buffer) => void) => void;

export const AS_IT_IS: Treatment = (bytes, say) => say(bytes);
/** Nobody says anything, and nobody hangs up. */
export const STALLED: Treatment = () => {};
export const late =
  (ms: number): Treatment =>
  (bytes, say) => {
    setTimeout(say, ms, bytes);
  };

/** Stands between replicas and a Redis, on a port of its own, and does with it what a test wants. */
export async function startRedisProxy({ socketPath }: Pick<Redis, 'socketPath'>) {
  let treatment = AS_IT_IS;
  const clients = new Set<Socket>();
  const server = createServer((client) => {
    clients.add(client);
    const redis = createConnection(socketPath);
    client.on('data', (bytes) => redis.write(bytes));
    // Whatever a test has said late, what comes behind it comes later.
    let turn = Promise.resolve();
    redis.on('data', (bytes: Buffer) => {
      const before = turn;
      turn = new Promise((done) => {
        treatment(bytes, (said) => {
          void before.then(() => {
            if (client.writable) client.write(said);
            done();
          });
        });
      });
    });
    for (const [one, other] of [
      [client, redis],
      [redis, client],
    ] as const) {
      one.on('error', () => {}).on('close', () => other.destroy());
    }
    client.on('close', () => clients.delete(client));
  });
  const listening = await listen(server);
  return {
    ...listening,
    redisUrl: listening.url.replace('http:', 'redis:'),
    /** How replies are treated from now on. @default as they are */
    treat(next: Treatment) {
      treatment = next;
    },
    /** Cuts off whoever is connected. */
    reset() {
      for (const client of clients) client.resetAndDestroy();
    },
  };
}
